"""Lists on a GPU: a stream for each stream of the list, times by CUDA's events."""

import time

import record_file


class DeviceStep:
    """On a GPU the host only hands over: streams wait for each other, as the list says."""

    def __init__(self, asked, torch, calls, items):
        self.asked, self.torch, self.calls, self.items = asked, torch, calls, items
        self.streams, self.matrices = {}, {}
        self.cycles = self._cycles_a_second()

    def _cycles_a_second(self):
        cuda = self.torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda._sleep(10_000_000)
        begin.record()
        cuda._sleep(100_000_000)
        end.record()
        end.synchronize()
        return 100_000_000 / (begin.elapsed_time(end) * 1e-3)

    def _stream(self, item):
        # What is beside streams is in the order of its group and direction: NCCL knows no tags.
        name = (item["stream"], item["group"], item["call"]) if item["stream"] == "beside" \
            else item["stream"]
        if name not in self.streams:
            self.streams[name] = self.torch.cuda.Stream()
        return self.streams[name]

    def _compute(self, item):
        torch = self.torch
        if not (self.asked.gemm and "product" in item):
            return torch.cuda._sleep(int(item["compute"] * self.cycles))
        m, n, k, batch = item["product"]
        if (m, n, k) not in self.matrices:
            half = {"dtype": torch.bfloat16, "device": "cuda"}
            self.matrices[m, n, k] = (torch.ones(m, k, **half), torch.ones(k, n, **half),
                                      torch.empty(m, n, **half))
        a, b, c = self.matrices[m, n, k]
        for _ in range(batch):
            torch.mm(a, b, out=c)

    def run(self):
        """Each call with its events, the bytes and the operation done."""
        cuda = self.torch.cuda
        main, out, ends = cuda.current_stream(), [], []
        for item in self.items:
            if "compute" in item:
                self._compute(item)
            elif "wait" in item:
                main.wait_event(ends[item["wait"]])
            elif "call" in item:
                if self.asked.single:
                    self.calls.meet(item["group"])
                stream, before = self._stream(item), cuda.Event()
                before.record(main)
                stream.wait_event(before)
                for other in item.get("after", ()):
                    stream.wait_event(ends[other])
                with cuda.stream(stream):
                    begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
                    begin.record()
                    work, buffers, size, done = self.calls.issue(item)
                    work.wait()  # of the stream, not of the host
                    end.record()
                ends.append(end)
                out.append((item, begin, end, buffers, size, done))
                if self.asked.single:
                    end.synchronize()
        return out


def run_device(asked, torch, dist, calls, items, recording):
    step = DeviceStep(asked, torch, calls, items)
    seconds = []
    for i in range(asked.warm + asked.repeat):
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.monotonic_ns()
        zero = torch.cuda.Event(enable_timing=True)
        zero.record()
        made = step.run()
        torch.cuda.synchronize()
        end = time.monotonic_ns()
        for item, first, last, buffers, size, done in made:
            if i >= asked.warm:
                recording.call(item, calls.number(item),
                               begin + int(zero.elapsed_time(first) * 1e6),
                               int(first.elapsed_time(last) * 1e6), size,
                               time=record_file.DEVICE, done=done)
            calls.release(buffers)
        if i >= asked.warm:
            recording.step(i - asked.warm, begin)
            seconds.append((end - begin) * 1e-9)
    return seconds
