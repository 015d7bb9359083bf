// Files made in the page; nothing is asked of any server.

function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the blob after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveText(name: string, type: string, text: string): void {
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

// What a style sheet says of the drawing, for a file that has none.
const kInlined = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;

function inline(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  // As attributes: the page's policy allows no styles in elements.
  for (const name of kInlined) to.setAttribute(name, style.getPropertyValue(name));
  Array.from(from.children).forEach((child, index) => {
    const copy = to.children[index];
    if (copy) inline(child, copy);
  });
}

// What is drawn on a canvas lies below the rest; a file takes it along as a picture.
function withCanvas(svg: SVGSVGElement, copy: SVGSVGElement): void {
  const canvas = svg.parentElement?.querySelector("canvas");
  if (!canvas || canvas.width === 0) return;
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  image.setAttribute("href", canvas.toDataURL("image/png"));
  image.setAttribute("width", String(svg.clientWidth));
  image.setAttribute("height", String(svg.clientHeight));
  copy.prepend(image);
}

/** The drawing as a file that looks the same anywhere. */
export function svgText(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  inline(svg, copy);
  withCanvas(svg, copy);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor || "#fff");
  const name = document.createElementNS("http://www.w3.org/2000/svg", "title");
  name.textContent = title;
  copy.prepend(name, ground);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `0 0 ${svg.clientWidth} ${svg.clientHeight}`);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(name: string, svg: SVGSVGElement, title: string): void {
  saveText(name, "image/svg+xml", svgText(svg, title));
}

const kPngScale = 2; // sharp where screens are

/** The drawing as a picture of points. */
export function savePng(name: string, svg: SVGSVGElement, title: string): Promise<void> {
  return savePngOf(name, svgText(svg, title));
}

/** The same of a drawing that is text already; its size is that of its viewBox. */
export async function savePngOf(name: string, drawing: string): Promise<void> {
  const [width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawing)!.slice(1).map(Number);
  const image = new Image(width! * kPngScale, height! * kPngScale);
  // The page's policy allows images of its own and of data, none of blobs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) save(name, blob);
}
