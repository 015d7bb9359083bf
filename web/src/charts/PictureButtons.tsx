// Bars of text, carried away as a picture.
import { barsSvg, type BarsPicture } from "./barsPicture";
import { savePngOf, saveText } from "./download";

// "var(--part-compute)" as it is in the present light.
function colour(css: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(css)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : css;
}

export function PictureButtons({ picture }: { picture: () => BarsPicture }) {
  const { title } = picture();
  const file = `headway-${title.toLowerCase().replace(/\W+/g, "-").slice(0, 40).replace(/-$/, "")}`;
  return (
    <div class="chart-downloads" role="group" aria-label={`Picture of: ${title}`}>
      <button type="button" onClick={() => saveText(`${file}.svg`, "image/svg+xml", barsSvg(picture(), colour))}>
        SVG
      </button>
      <button type="button" onClick={() => void savePngOf(`${file}.png`, barsSvg(picture(), colour))}>
        PNG
      </button>
    </div>
  );
}
