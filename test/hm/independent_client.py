#!/usr/bin/env python3
"""A client of the session protocol, written from the text of seed 001 alone, with the standard library only.

`watch` is the seed's example client line by line: subscribe, copy OUTPUT to stdout, end with the code of EXIT.
The others use each of the remaining frames once. Nothing here knows of frames that the seed does not have: one of
those arriving is an error.
"""

import socket
import struct
import sys

INPUT, SUBSCRIBE, STATUS, RESIZE, KILL = 0x01, 0x02, 0x03, 0x04, 0x05
OUTPUT, STATUS_RESP, EXIT = 0x81, 0x82, 0x83
STATES = {0x00: "Idle", 0x01: "Thinking", 0x02: "Streaming", 0x03: "ToolUse", 0x04: "Active", 0xFF: "Dead"}


def read_full(conn, count):
    parts = []
    while count > 0:
        part = conn.recv(count)
        if not part:
            raise EOFError("connection closed in the middle of a frame")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def connect(path):
    conn = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    conn.connect(path)
    mode = read_full(conn, 1)
    if mode != b"\x00":
        sys.exit("unsupported mode: 0x%02x" % mode[0])
    return conn


def send(conn, kind, payload=b""):
    conn.sendall(struct.pack(">BI", kind, len(payload)) + payload)


def receive(conn):
    kind, length = struct.unpack(">BI", read_full(conn, 5))
    return kind, read_full(conn, length) if length else b""


def watch(conn):
    """The seed's minimal client."""
    send(conn, SUBSCRIBE)
    while True:
        kind, payload = receive(conn)
        if kind == OUTPUT:
            sys.stdout.buffer.write(payload)
            sys.stdout.buffer.flush()
        elif kind == EXIT:
            (code,) = struct.unpack(">i", payload)
            return code
        else:
            sys.exit("a frame that was not asked for: 0x%02x" % kind)


def status(conn):
    send(conn, STATUS)
    kind, payload = receive(conn)
    if kind != STATUS_RESP or len(payload) != 15:
        sys.exit("not a status response: 0x%02x of %d bytes" % (kind, len(payload)))
    pid, idle_ms, alive, state, state_ms, reserved = struct.unpack(">IIBBIB", payload)
    if reserved != 0:
        sys.exit("the reserved byte is %d" % reserved)
    print("pid=%d idle_ms=%d alive=%d state=%s state_ms=%d" % (pid, idle_ms, alive, STATES[state], state_ms))
    return 0


def everything(conn):
    """Subscribe, then INPUT, RESIZE, STATUS and KILL on the same connection, as subscriber mode allows."""
    send(conn, SUBSCRIBE)
    send(conn, RESIZE, struct.pack(">HH", 93, 31))
    send(conn, INPUT, b"stty size; echo done-$((6*7))\r")
    seen = b""
    while b"done-42" not in seen:
        kind, payload = receive(conn)
        if kind != OUTPUT:
            sys.exit("expected output, got 0x%02x" % kind)
        seen += payload
    send(conn, 0x7E, b"a frame of the future, to be skipped")
    send(conn, STATUS)
    while True:
        kind, payload = receive(conn)
        if kind == STATUS_RESP:
            break
    print("size=%s alive=%d" % ("31 93" in seen.decode("utf-8", "replace"), payload[8]))
    send(conn, KILL)
    while True:
        kind, payload = receive(conn)
        if kind == EXIT:
            print("exit=%d" % struct.unpack(">i", payload))
            return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("watch", "status", "everything"):
        sys.exit("usage: %s watch|status|everything <socket-path>" % sys.argv[0])
    sys.exit({"watch": watch, "status": status, "everything": everything}[sys.argv[1]](connect(sys.argv[2])))
