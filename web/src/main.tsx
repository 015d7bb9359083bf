import "./app/style.css";
import "./charts/charts.css";

import { render } from "preact";

import { App } from "./app/App";
import { followTheme } from "./lib/theme";
import { followAddress } from "./lib/url";

followTheme();
followAddress();
render(<App />, document.getElementById("page")!);
