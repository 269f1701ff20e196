"""Draws the icon of the plugin and the bundle: three tiers in a rounded square, the long-term one widest.

python tools/draw_icon.py
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
FILES = (PROJECT / "plugin" / "assets" / "icon.png", PROJECT / "packaging" / "mcpb" / "icon.png")
SIDE = 512  # pixels; directories of plugins take 512 to 2048
FINER = 4  # samples a pixel in each direction, so that edges are smooth

GROUND = (0x1B, 0x2A, 0x41)
# Of each tier: left, top, right, bottom in parts of the side, and its colour.
TIERS = (
    ((0.36, 0.21, 0.64, 0.34), (0x8F, 0xD3, 0xD1)),
    ((0.28, 0.435, 0.72, 0.565), (0xF4, 0xC9, 0x5D)),
    ((0.18, 0.66, 0.82, 0.79), (0xE8, 0x6A, 0x5C)),
)


def rounded(left: float, top: float, right: float, bottom: float, radius: float) -> np.ndarray:
    """Return how much of each pixel a rectangle with round corners covers, 0 to 1."""
    places = (np.arange(SIDE * FINER) + 0.5) / (SIDE * FINER)
    across = np.maximum(np.maximum(left + radius - places, places - (right - radius)), 0)
    down = np.maximum(np.maximum(top + radius - places, places - (bottom - radius)), 0)
    inside = np.hypot(across[None, :], down[:, None]) <= radius
    return inside.reshape(SIDE, FINER, SIDE, FINER).mean(axis=(1, 3))


def draw() -> np.ndarray:
    """Return the picture: rows of pixels of red, green, blue and opacity."""
    picture = np.zeros((SIDE, SIDE, 4))
    ground = rounded(0, 0, 1, 1, 0.22)
    picture[..., :3] = GROUND
    picture[..., 3] = ground * 255
    for box, colour in TIERS:
        part = rounded(*box, 0.065)[..., None]
        picture[..., :3] = picture[..., :3] * (1 - part) + np.array(colour) * part
    return picture.round().astype(np.uint8)


def png(picture: np.ndarray) -> bytes:
    """Return a picture as a PNG file."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main() -> None:
    """Draw it and write it to each place."""
    data = png(draw())
    for file in FILES:
        file.write_bytes(data)
        print(f"{file.relative_to(PROJECT)}: {len(data) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
