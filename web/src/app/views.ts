// The views in the order of their tabs. A view is one file of src/views.
import type { ComponentType } from "preact";

import { kGivenNames } from "../lib/plan";
import { kRunNames } from "../lib/run";
import { CommsView } from "../views/comms/Comms";
import { CostView } from "../views/cost/Cost";
import { JobsView } from "../views/jobs/Jobs";
import { LimitsView } from "../views/limits/Limits";
import { PlanView } from "../views/plan/Plan";
import { ScaleView } from "../views/scale/Scale";
import { ServeView } from "../views/serve/Serve";
import { StepView } from "../views/step/Step";
import { TrustView } from "../views/trust/Trust";

export interface View {
  /** Its name in the address. */
  readonly id: string;
  readonly title: string;
  /** One line: the question that it answers. */
  readonly purpose: string;
  /** Fields that it takes over from the view before when it is opened first. */
  readonly shares: readonly string[];
  readonly Page: ComponentType;
}

export const kViews: readonly View[] = [
  {
    id: "step",
    title: "Step",
    purpose: "how long one training step takes and where the time goes",
    shares: kRunNames,
    Page: StepView,
  },
  {
    id: "plan",
    title: "Plan",
    purpose: "the best layout of every legal one",
    shares: kGivenNames,
    Page: PlanView,
  },
  {
    id: "scale",
    title: "Scale",
    purpose: "one run along one axis, where more brings little, and what all of it costs",
    shares: kRunNames,
    Page: ScaleView,
  },
  {
    id: "cost",
    title: "Cost",
    purpose: "days, money, energy and CO2 of a whole run, on several machines beside each other",
    shares: kRunNames,
    Page: CostView,
  },
  {
    id: "serve",
    title: "Serve",
    purpose: "what serving a model takes, the best ways of it, and how much load they bear",
    shares: ["model", "cluster"],
    Page: ServeView,
  },
  {
    id: "jobs",
    title: "Jobs",
    purpose: "which jobs of a stream one machine must block, by policy and load",
    shares: [],
    Page: JobsView,
  },
  {
    id: "limits",
    title: "Limits",
    purpose: "how large a training run can become before moving data stops it",
    shares: [],
    Page: LimitsView,
  },
  {
    id: "comms",
    title: "Communication",
    purpose: "who sends what in a step, expected and measured",
    shares: kRunNames,
    Page: CommsView,
  },
  {
    id: "trust",
    title: "Trust",
    purpose: "what is predicted beside what was measured",
    shares: [],
    Page: TrustView,
  },
];
