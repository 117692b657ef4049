# SPDX-License-Identifier: MIT
"""Classes of trouble that people report for tasks that refuse to freeze, and the signs of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["AUDIO", "AUTOMOUNT", "FUSE", "PAGE", "REMOTE", "SPINNING", "TWO_LEVEL", "UNKNOWN"]
__all__ += ["WAKEUP", "WORKQUEUE", "classify"]

FUSE = "FUSE client"
PAGE = "page fault or page wait"
REMOTE = "NFS or SMB server"
AUTOMOUNT = "automount or security module"
AUDIO = "audio playback"
SPINNING = "spinning helper"
WORKQUEUE = "workqueue busy"
TWO_LEVEL = "two-level freeze"
WAKEUP = "wakeup during freeze"
UNKNOWN = "unknown"


class Rule(NamedTuple):
    """One sign of a class: a pattern of a frame (``function [module]``) or of a task's name."""

    kind: str
    pattern: str
    states: str  # letters for which the rule holds; empty for all
    source: str  # public reports that show it


# The first rule that matches any frame wins. A page wait below a network file system is the server's
# fault, and a fault on a mapped FUSE file is a page fault, so the generic signs stand last.
FRAME_RULES = (
    Rule(
        REMOTE,
        r"_*(?:nfs\d?|nlm|rpc|xprt|cifs|smb\d?|SMB2)_|.*\[(?:nfs(?:v\d)?|sunrpc|lockd|cifs)\]",
        "",
        "old reports of servers that are down; the RPC waits became freezable later",
    ),
    Rule(AUTOMOUNT, r"autofs\d?_|.*\[(?:autofs4?|(?:p_)?lkrg)\]", "", "lkrg 464, lkrg 488"),
    Rule(AUDIO, r"snd_|.*\[snd", "", "SOF linux 2433, SOF linux 3370 (snd_pcm_drain)"),
    Rule(
        PAGE,
        r"(?:filemap_fault|_*do_fault|do_(?:read|cow|shared)_fault|_*handle_mm_fault|_*do_page_fault)$",
        "D",
        "systemd 37590, ente 6401",
    ),
    Rule(
        FUSE,
        r"request_wait_answer\b|_*fuse_|.*\[fuse\]",
        "",
        "sshfs 25, sshfs 137, backintime 829, syncthing 5020, keybase client 13370, systemd 36317",
    ),
    Rule(
        PAGE,
        r"_*(?:folio_wait_|folio_lock|wait_on_page|lock_page|filemap_)|wait_on_page_bit",
        "D",
        "systemd 37590, ente 6401",
    ),
)

# Names tell less than frames, and are looked at only for a task whose frames say nothing.
NAME_RULES = (
    Rule(
        FUSE,
        r"(?:sshfs|rclone|kbfsfuse|keybase|encfs|bindfs|gvfsd-fuse)",
        "D",
        "sshfs 25, keybase client 13370, systemd 36317",
    ),
    Rule(AUTOMOUNT, r"automount", "D", "lkrg 464"),
    Rule(AUDIO, r"(?:aplay|arecord|speaker-test|tinyplay)$", "", "SOF linux 2433, SOF linux 3370"),
)

# OP-TEE 4581: the helper keeps running inside the kernel.
RUNNING = "R"


def classify(name: str, state: str, frames: Sequence[str]) -> tuple[str, str]:
    """Class of a task and what it was told by: ``state``, ``frame``, ``name`` or nothing.

    Examples
    --------
    >>> classify("stat", "D", ["request_wait_answer [fuse]", "fuse_do_getattr [fuse]"])
    ('FUSE client', 'frame')
    >>> classify("cp", "D", [])
    ('unknown', '')
    """
    if state == RUNNING:
        return SPINNING, "state"
    for rule in FRAME_RULES:
        if _holds(rule, state) and any(re.match(rule.pattern, frame) for frame in frames):
            return rule.kind, "frame"
    for rule in NAME_RULES:
        if _holds(rule, state) and re.match(rule.pattern, name):
            return rule.kind, "name"
    return UNKNOWN, ""


def _holds(rule: Rule, state: str) -> bool:
    return not rule.states or state in rule.states
