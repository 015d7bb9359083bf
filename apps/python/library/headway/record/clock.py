"""How far the clock of rank 0 is ahead of this rank's. Processes of one boot of one machine share the
monotonic clock; others ask rank 0 by small datagrams, now and again, so that a drift is known even of
a program that is killed."""
import os
import secrets
import socket
import struct
import threading
import time

ROUNDS = 8
ANSWER_S = 0.2        # that an answer may take
AGAIN_S = 10.0        # between two measurements
_STAMP = struct.Struct("<16sQ")


def machine():
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return socket.gethostname()


class Answerer:
    """Of rank 0: says what time it is to who knows the word."""

    def __init__(self):
        self._word = secrets.token_bytes(16)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("", 0))
        threading.Thread(target=self._answer, name="headway clock", daemon=True).start()

    def said(self):
        return {"host": socket.gethostname(), "port": self._socket.getsockname()[1],
                "word": self._word.hex()}

    def _answer(self):
        while True:
            try:
                data, sender = self._socket.recvfrom(_STAMP.size)
                if len(data) == _STAMP.size and secrets.compare_digest(data[:16], self._word):
                    sent = _STAMP.unpack(data)[1]
                    self._socket.sendto(struct.pack("<QQ", sent, time.monotonic_ns()), sender)
            except OSError:
                return

    def end(self):
        self._socket.close()


def offset_from(rounds):
    """[RECORD-3] Of rounds (sent, theirs, got) the shortest says by how much their clock is ahead: theirs
    less the middle of ours. Error: half of that round trip at the most."""
    sent, theirs, got = min(rounds, key=lambda round: round[2] - round[0])
    at = sent + (got - sent) // 2
    return {"clock": {"at_ns": at, "offset_ns": theirs - at, "round_trip_ns": got - sent}}


def ask(said):
    """One measurement; None where nobody answers."""
    rounds = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(ANSWER_S)
        for _ in range(ROUNDS):
            try:
                sent = time.monotonic_ns()
                asker.sendto(_STAMP.pack(bytes.fromhex(said["word"]), sent), (said["host"], said["port"]))
                echoed, theirs = struct.unpack("<QQ", asker.recv(16))
                got = time.monotonic_ns()
                if echoed == sent:
                    rounds.append((sent, theirs, got))
            except (OSError, struct.error):
                if not rounds:
                    return None
    return offset_from(rounds)


def measure_on(said, writer, ended):
    """The first measurement and the last one stand in the file: between them the clock goes evenly."""
    def go_on():
        key = "first clock"
        while True:
            measured = ask(said)
            if measured:
                writer.put_text(measured, key)
                key = "last clock"
            if ended.wait(AGAIN_S):
                return
    threading.Thread(target=go_on, name="headway clock", daemon=True).start()
