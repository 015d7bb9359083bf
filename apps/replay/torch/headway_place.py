"""Which rank this process is, by what started it: torchrun, mpirun of OpenMPI or MPICH, srun."""

import collections
import os

Place = collections.namedtuple("Place", "rank ranks local")

# As apps/replay/nccl/ranks.cpp has it. The inner one stands first: mpirun in a batch script of Slurm.
LAUNCHERS = [
    ("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OpenMPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("MPICH's mpirun or srun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
]


class PlaceError(Exception):
    pass


def _number(environment, name):
    text = environment.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 8 else None


def place_of(environment, ranks):
    """Of a list of `ranks` ranks; None where nothing started this process as one of several: then it is
    to start them. A launcher's place that does not fit is refused, with what would do."""
    found = []
    for launcher, own, all_of, local in LAUNCHERS:
        if own not in environment:
            continue
        rank, world = _number(environment, own), _number(environment, all_of)
        if rank is None or world is None or rank >= world:
            said = environment.get(all_of)
            raise PlaceError(f"{own}={environment[own]} needs {all_of} above it, which is "
                             f"{'not set' if said is None else said}: set RANK, WORLD_SIZE and LOCAL_RANK")
        place_on_machine = _number(environment, local)
        if place_on_machine is None and _number(environment, "SLURM_PROCID") == rank:
            place_on_machine = _number(environment, "SLURM_LOCALID")
        found.append((launcher, Place(rank, world, rank if place_on_machine is None else place_on_machine)))
    for launcher, place in found:
        if place.ranks == ranks:
            return place
    # A batch script and a pod have the environment of a single rank, which nothing was started as.
    several = [(launcher, place) for launcher, place in found if place.ranks > 1]
    if not several:
        return None
    launcher, place = several[0]
    raise PlaceError(f"the list is of {ranks} ranks, {launcher} started {place.ranks}: start {ranks}, or set "
                     "RANK, WORLD_SIZE and LOCAL_RANK")


def meeting_of(environment, folder):
    """Where the ranks find each other: a file that this script made for ranks that it started itself, the
    address that torchrun said, or else the folder of the recording, which all of them see."""
    started = environment.get("HEADWAY_MEETING")
    if started is None and "MASTER_ADDR" in environment and "MASTER_PORT" in environment:
        return "env://"
    if started is None:
        os.makedirs(folder, exist_ok=True)
        # Of this start, where it has a name: a run that was killed leaves its file there.
        names = ("SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE")
        start = "-".join(environment[name] for name in names if environment.get(name, "").isalnum())
        started = os.path.join(os.path.abspath(folder), "-".join(filter(None, ["meeting", start])))
    return f"file://{started}"
