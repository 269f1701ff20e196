// The points of a map as typed arrays, from the block of bytes that `/map/points.bin` gives (`packed` in views/map.py describes it).

export const NEVER = 0xffffffff;
const PINNED = 128;

/**
 * @typedef {object} Points
 * @property {number} count
 * @property {Float32Array} x from -1 to 1, to the right
 * @property {Float32Array} y from -1 to 1, downwards
 * @property {Uint32Array} came seconds since 1970
 * @property {Uint32Array} ended seconds since 1970, NEVER for what still stands
 * @property {Uint8Array} region
 * @property {Uint8Array} place
 * @property {Uint8Array} tier
 * @property {Uint8Array} kind
 * @property {Uint8Array} trust
 * @property {Uint8Array} pinned
 * @property {number} first seconds at which the first memory came
 * @property {number} last
 * @property {number} cells
 * @property {Uint8Array} heights cells x cells, the uppermost row first
 * @property {(at: number) => string} id
 * @property {(id: string) => number} placeOf the number of the point of an id, -1 without one
 */

/** @param {ArrayBuffer} bytes @returns {Points} */
export function read(bytes) {
  const head = new DataView(bytes);
  if (head.getUint32(0, true) !== 0x314d4d48) throw new Error("these are no points of a map");
  const [count, width, cells, first, last] = [4, 8, 12, 16, 20].map((at) => head.getUint32(at, true));
  let at = 32;
  const take = (Type, number) => {
    const size = number * Type.BYTES_PER_ELEMENT;
    const found = new Type(bytes.slice(at, at + size));
    at += size;
    return found;
  };
  const came = take(Uint32Array, count);
  const ended = take(Uint32Array, count);
  const x = Float32Array.from(take(Int16Array, count), (one) => one / 32000);
  const y = Float32Array.from(take(Int16Array, count), (one) => -one / 32000);
  const [region, place, tier, kind, trust] = Array.from({ length: 5 }, () => take(Uint8Array, count));
  const pinned = trust.map((one) => (one & PINNED ? 1 : 0));
  for (let one = 0; one < count; one++) trust[one] &= PINNED - 1;
  const ids = new Uint8Array(bytes, at, count * width);
  at += count * width;
  const lowest = new Uint8Array(bytes, at, cells * cells);
  const heights = new Uint8Array(cells * cells);
  for (let row = 0; row < cells; row++) heights.set(lowest.subarray((cells - 1 - row) * cells, (cells - row) * cells), row * cells);
  const text = new TextDecoder();
  const id = (one) => text.decode(ids.subarray(one * width, (one + 1) * width)).replace(/\0+$/, "");
  let known = null;
  const placeOf = (wanted) => {
    known ??= new Map(Array.from({ length: count }, (_, one) => [id(one), one]));
    return known.get(wanted) ?? -1;
  };
  return { count, x, y, came, ended, region, place, tier, kind, trust, pinned, first, last, cells, heights, id, placeOf };
}

/**
 * The point that is nearest to a place, of those for which `shown` is not 0; -1 if none lies within `reach`.
 * @param {Points} points @param {Uint8Array} shown @param {number} stretch how much wider than high the map is drawn
 */
export function nearest(points, shown, x, y, reach, stretch = 1) {
  let best = -1;
  let least = reach * reach;
  for (let at = 0; at < points.count; at++) {
    if (!shown[at]) continue;
    const across = (points.x[at] - x) * stretch;
    const down = points.y[at] - y;
    const apart = across * across + down * down;
    if (apart <= least) {
      least = apart;
      best = at;
    }
  }
  return best;
}

/** The points within a polygon `[[x, y], ...]`. @returns {number[]} */
export function within(points, shown, polygon) {
  const left = Math.min(...polygon.map((one) => one[0]));
  const right = Math.max(...polygon.map((one) => one[0]));
  const found = [];
  for (let at = 0; at < points.count; at++) {
    const x = points.x[at];
    const y = points.y[at];
    if (!shown[at] || x < left || x > right) continue;
    let inside = false;
    for (let one = 0, before = polygon.length - 1; one < polygon.length; before = one++) {
      const [ax, ay] = polygon[one];
      const [bx, by] = polygon[before];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (inside) found.push(at);
  }
  return found;
}
