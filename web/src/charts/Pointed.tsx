// The frame of a chart whose points can be asked what they are, by the pointer or by keys: what the
// point is stands beside it and is read out.
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { hintText, Tooltip, type Hint } from "./Tooltip";

interface Props {
  title: string;
  /** What the keys read: "columns". */
  reads: string;
  /** What the drawing shows: "seconds by accelerators". */
  drawn: string;
  plotRef: RefObject<HTMLDivElement>;
  width: number;
  height: number;
  hint: Hint | null;
  /** Where the pointer is, in pixels of the frame. */
  onPoint: (x: number, y: number) => void;
  onClick?: (x: number, y: number) => void;
  onDoubleClick?: (x: number, y: number) => void;
  /** A drag: where it begins, that it went on (then nothing is pointed at), and that it ended. */
  onDown?: (x: number, y: number) => void;
  onMove?: (x: number, y: number) => boolean;
  onUp?: () => boolean;
  /** Whether the key means something here; the page does not take it then. */
  onKey: (key: string) => boolean;
  /** No point is meant any more. */
  onLeave: () => void;
  /** Under the drawing: a canvas. */
  under?: ComponentChildren;
  /** Of the drawing. */
  children: ComponentChildren;
}

function placed(event: MouseEvent, to: (x: number, y: number) => void): void {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  to(event.clientX - box.left, event.clientY - box.top);
}

export function Pointed({ title, reads, drawn, plotRef, width, height, hint, under, children, ...on }: Props) {
  const { onClick, onDoubleClick, onDown, onMove, onUp } = on;
  const dragged = useRef(false); // what ends a drag is no click
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") on.onLeave();
    // With one of these it is a key of the browser or the system: Ctrl+S saves the page.
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (on.onKey(event.key)) event.preventDefault();
  };
  return (
    <div
      ref={plotRef}
      class="chart-plot"
      tabIndex={0}
      role="group"
      aria-label={`${title}. Arrow keys read its ${reads}.`}
      onPointerDown={
        onDown &&
        ((event) => {
          if (event.button !== 0 || event.pointerType === "touch") return; // a finger moves the page
          dragged.current = false;
          placed(event, onDown);
        })
      }
      onPointerMove={(event) =>
        placed(event, (x, y) => {
          if (event.buttons === 1 && onMove?.(x, y)) {
            if (!dragged.current) event.currentTarget.setPointerCapture(event.pointerId);
            dragged.current = true;
            on.onLeave();
          } else on.onPoint(x, y);
        })
      }
      onPointerUp={onUp && (() => (dragged.current = onUp()))}
      onPointerLeave={on.onLeave}
      onClick={onClick && ((event) => !dragged.current && placed(event, onClick))}
      onDblClick={onDoubleClick && ((event) => placed(event, onDoubleClick))}
      onKeyDown={onKey}
      onBlur={on.onLeave}
    >
      {under}
      <svg class="chart-drawing" width={width} height={height} role="img" aria-label={`${title}: ${drawn}`}>
        {children}
      </svg>
      <Tooltip hint={hint} width={width} />
      <span class="hidden" aria-live="polite">
        {hintText(hint)}
      </span>
    </div>
  );
}
