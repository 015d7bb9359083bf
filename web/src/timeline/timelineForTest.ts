// A timeline small enough to be followed by hand.
import type { TimelineDocument } from "../lib/simulated";

// Two stages, one micro-batch; the second waits for a transfer of 0.5, and is slowed to twice its program.
export const kDocument: TimelineDocument = {
  time_s: 7,
  streams: ["kernels", "host", "tp", "pp"],
  parts: ["compute", "tp", "pp", "optimizer"],
  names: ["forward", "backward", "product", "tp all_reduce", "send to next stage", "update"],
  programs: [
    // A product, a call behind it, a product that waits for the call; the fourth takes no time.
    {
      time_s: 1,
      name: [2, 3, 2, 2],
      stream: [0, 2, 0, 0],
      part: [0, 1, 0, 0],
      begin_s: [0, 0.25, 0.5, 1],
      end_s: [0.25, 0.5, 1, 1],
      waits_for: [-1, 0, 1, 2],
      critical: [1, 1, 1, 0],
    },
  ],
  stages: [
    {
      name: [0, 4, 1, 5],
      stream: [0, 3, 0, 0],
      part: [0, 2, 0, 3],
      chunk: [0, -1, 0, -1],
      micro_batch: [0, -1, 0, -1],
      program: [0, -1, 0, -1],
      begin_s: [0, 1, 5, 6],
      end_s: [1, 1.5, 6, 7],
      beside: [0, 1, 0, 0],
      waits_for_stage: [-1, -1, 1, 0],
      waits_for: [-1, -1, 1, 2],
      transfer_s: [0, 0, 0.5, 0],
      critical: [1, 0, 1, 1],
    },
    {
      name: [0, 1],
      stream: [0, 0],
      part: [0, 0],
      chunk: [0, 0],
      micro_batch: [0, 0],
      program: [0, 0],
      begin_s: [1.5, 3.5],
      end_s: [3.5, 4.5],
      beside: [0, 0],
      waits_for_stage: [0, 1],
      waits_for: [0, 0],
      transfer_s: [0.5, 0],
      critical: [1, 1],
    },
  ],
};
