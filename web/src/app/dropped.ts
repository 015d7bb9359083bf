// Files that are dropped on a part of the page.
import { useState } from "preact/hooks";

export interface Dropped {
  /** Files are held over it. */
  readonly over: boolean;
  /** What the element listens to. */
  readonly listens: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDragLeave: () => void;
    readonly onDrop: (event: DragEvent) => void;
  };
}

export function useDropped(take: (files: FileList) => void): Dropped {
  const [over, setOver] = useState(false);
  return {
    over,
    listens: {
      onDragOver(event) {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event) {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer && event.dataTransfer.files.length > 0) take(event.dataTransfer.files);
      },
    },
  };
}
