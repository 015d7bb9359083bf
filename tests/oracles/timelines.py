#!/usr/bin/env python3
"""Has Perfetto's own protocol classes read what `headway simulate --perfetto` writes.

    timelines.py HEADWAY   simulates runs of different kinds; exits with 1 where a file is not what it says

Of each file every packet is parsed, none with a field that the classes do not know; slices begin and end in
turn on tracks that are described, by names that are interned before; each flow has one end that begins it and
one that terminates it, no earlier; counters are those of their process. Events are counted against Chrome's
file, the peak of memory against `headway predict`. Needs perfetto (PyPI), no trace processor.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

RUN = ["--model", "llama-2-7b", "--cluster", "dgx-h100", "--gpus", "32", "--seq", "4096", "--global-batch", "64"]
LAYOUTS = [
    "",
    "--tp 2 --pp 4",
    "--tp 2 --pp 4 --vpp 2",
    "--tp 2 --pp 4 --schedule zero-bubble",
    "--tp 2 --pp 4 --schedule dual-pipe",
    "--framework fsdp --zero 3",
    "--recompute full --pp 2",
]
EVENT = protos.TrackEvent


def read(path, wrong):
    trace = protos.Trace()
    with open(path, "rb") as file:
        data = file.read()
    trace.ParseFromString(data)
    trace.DiscardUnknownFields()
    if len(trace.SerializeToString()) != len(data):
        wrong.append("holds fields that the classes do not know")
    names, tracks, counters, processes = {}, {}, {}, set()
    open_slices = collections.Counter()
    last = {}
    begins_at, ends_at = {}, {}
    count = collections.Counter()
    values = collections.defaultdict(list)
    for packet in trace.packet:
        if packet.trusted_packet_sequence_id == 0:
            wrong.append("a packet without its sequence")
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            of = packet.track_descriptor
            tracks[of.uuid] = of
            if of.HasField("process"):
                processes.add(of.uuid)
            elif of.parent_uuid not in processes:
                wrong.append(f"track {of.uuid} has no process")
            if of.HasField("counter"):
                counters[of.uuid] = (of.parent_uuid, of.name, of.counter.unit_name)
            continue
        event = packet.track_event
        if event.track_uuid not in tracks:
            wrong.append(f"an event on track {event.track_uuid}, which is not described")
        if packet.timestamp < last.get(event.track_uuid, 0):
            wrong.append("time runs backwards on a track")
        last[event.track_uuid] = packet.timestamp
        if event.type == EVENT.TYPE_COUNTER:
            count["values"] += 1
            values[counters[event.track_uuid]].append(event.double_counter_value)
            continue
        change = 1 if event.type == EVENT.TYPE_SLICE_BEGIN else -1
        open_slices[event.track_uuid] += change
        if open_slices[event.track_uuid] not in (0, 1):
            wrong.append("slices do not begin and end in turn")
        if change < 0:
            continue
        count["slices"] += 1
        if event.name_iid not in names:
            wrong.append("a name that is not interned")
        for flow in event.flow_ids:
            begins_at.setdefault(flow, []).append(packet.timestamp)
        for flow in event.terminating_flow_ids:
            ends_at.setdefault(flow, []).append(packet.timestamp)
    count["flows"] = len(begins_at)
    count["processes"] = len(processes)
    count["tracks"] = len(tracks) - len(processes) - len(counters)
    count["counters"] = len(counters)
    if begins_at.keys() != ends_at.keys():
        wrong.append("a flow with one end")
    for flow, ends in ends_at.items():
        if len(ends) != 1 or len(begins_at.get(flow, [])) != 1 or begins_at[flow][0] > ends[0]:
            wrong.append(f"flow {flow} does not lead from one slice to a later one")
    if any(open_slices.values()):
        wrong.append("a slice that does not end")
    return count, values


def chrome_count(path):
    kinds = collections.Counter(event["ph"] for event in json.load(open(path))["traceEvents"])
    return {"slices": kinds["X"], "flows": kinds["s"], "values": kinds["C"]}


def main(headway):
    failed = False
    for layout in LAYOUTS:
        wrong = []
        words = RUN + layout.split()
        with tempfile.TemporaryDirectory() as folder:
            one, other = os.path.join(folder, "a.perfetto"), os.path.join(folder, "a.json")
            subprocess.run([headway, "simulate", *words, "--quiet", "--perfetto", one, "--chrome", other],
                           check=True, stdout=subprocess.DEVNULL)
            count, values = read(one, wrong)
            for kind, number in chrome_count(other).items():
                if count[kind] != number:
                    wrong.append(f"{count[kind]} {kind}, Chrome's file has {number}")
        said = json.loads(subprocess.run([headway, "predict", *words, "--json"], check=True, capture_output=True).stdout)
        peak = max(max(of) for (_, name, _), of in values.items() if name == "memory")
        if abs(peak / said["memory_bytes"]["total"] - 1) > 1e-9:
            wrong.append(f"memory peaks at {peak}, forecast {said['memory_bytes']['total']}")
        print(f"{layout or 'data parallel'}: " + ", ".join(f"{number} {kind}" for kind, number in count.items()))
        for each in dict.fromkeys(wrong):
            print(f"  wrong: {each}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
