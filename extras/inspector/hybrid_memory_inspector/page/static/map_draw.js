// Draws a map: land, points and labels on two canvases, at 30 frames a second and more for 100,000 points without a graphics card.
//
// Points are written into the bytes of an image (a canvas that draws circles one by one manages a tenth). The land is drawn once for the
// whole map and stretched while it moves; when it rests, it is drawn anew for just what is seen.

const EDGE = 1.3; // the land reaches from minus so much to so much
const COAST = 40; // the height from which it is land
const LEVELS = [COAST, 76, 112, 148, 184, 220];
const LAND = 896; // pixels of the land's picture for the whole map
const CLOSEST = 60; // times
const MANY = 20000; // points from which a moving map has one pixel for one of the page, however sharp the screen is
const REST_MS = 160;
const ABOVE = 72; // pixels at the upper edge over which buttons lie, and at the lower one
const BELOW = 100;

/** The colours of a theme as [r, g, b], read from the page's own variables. */
export class Paint {
  constructor(host) {
    this._probe = document.createElement("span");
    this._probe.hidden = true;
    host.append(this._probe);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    this._pixel = canvas.getContext("2d", { willReadFrequently: true });
  }

  /** @param {string} colour any that CSS knows, `var(--x)` too @returns {[number, number, number]} */
  rgb(colour) {
    this._probe.style.setProperty("color", colour);
    this._pixel.clearRect(0, 0, 1, 1);
    this._pixel.fillStyle = getComputedStyle(this._probe).color;
    this._pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue] = this._pixel.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  }

  css(colour) {
    const [red, green, blue] = this.rgb(colour);
    return `rgb(${red} ${green} ${blue})`;
  }
}

export class MapView {
  /**
   * @param {HTMLCanvasElement} front takes the points and the labels @param {HTMLCanvasElement} back takes the land
   * @param {import("./map_points.js").Points} points
   * @param {{x: number, y: number, words: string[], count: number}[]} regions
   * @param {{x: number, y: number, words: string[], count: number, region: number}[]} places
   */
  constructor(front, back, points, regions, places) {
    this.front = front;
    this.back = back;
    this.points = points;
    this._labels = [...regions.map((one) => ({ ...one, great: true })), ...places.map((one) => ({ ...one, great: false }))].filter((one) => one.words.length);
    this._ink = front.getContext("2d");
    this._ground = back.getContext("2d", { alpha: false });
    this.centre = { x: 0, y: 0 };
    this.zoom = 1;
    this.shown = new Uint8Array(points.count).fill(1); // 0: hidden, 1: shown, 2: shown dimly, 3: brought out
    this.palette = new Uint32Array(256).fill(0xff888888);
    this.colour = new Uint8Array(points.count);
    this.selected = new Set();
    this.marked = -1;
    this.lasso = null;
    this._stamps = new Map();
    this._sprites = new Map();
    this._settled = null;
    this._asked = 0;
    this._rest = 0;
    this.frames = 0;
    this.tall = Math.max(points.y.reduce((most, one) => Math.max(most, Math.abs(one)), 0), 0.5);
  }

  /** Fits the canvases to their place on the page. */
  resize() {
    const box = this.front.getBoundingClientRect();
    this.width = Math.max(Math.round(box.width), 1);
    this.height = Math.max(Math.round(box.height), 1);
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this._sized(this.ratio);
    this._sprites.clear();
    this.draw();
  }

  /** Gives the canvases so many pixels for one of the page. */
  _sized(sharp) {
    this._sharp = sharp;
    for (const canvas of [this.front, this.back]) {
      canvas.width = Math.round(this.width * sharp);
      canvas.height = Math.round(this.height * sharp);
    }
    this._settled = null;
  }

  /** Takes the colours of the theme. @param {Paint} paint */
  theme(paint) {
    this._sea = paint.rgb("var(--map-sea)");
    this._layers = LEVELS.map((_, at) => paint.rgb(`var(--map-land-${at})`));
    this._contour = paint.rgb("var(--map-contour)");
    this._shore = paint.rgb("var(--map-shore)");
    this.inkColour = paint.css("var(--map-ink)");
    this.haloColour = paint.css("var(--map-halo)");
    this.markColour = paint.css("var(--map-mark)");
    this._sprites.clear();
    this._settled = null;
    this._world = null;
    this.draw();
  }

  /** Pixels of the page for a unit of the map. */
  get scale() {
    return Math.min(this.width / 2.1 / this.stretch, (this.height - ABOVE - BELOW) / (this.tall * 2.06)) * this.zoom;
  }

  /** How much wider the map is drawn than high, so that it fills its place: what is near stays near. */
  get stretch() {
    return clamp((this.width / 2.1) / (Math.max(this.height - ABOVE - BELOW, 1) / (this.tall * 2.06)), 0.8, 1.45);
  }

  /** Where the middle of the map stands: what lies over its edges leaves less room below than above. */
  get middle() {
    return (this.height + ABOVE - BELOW) / 2;
  }

  toPage(x, y) {
    return [(x - this.centre.x) * this.scale * this.stretch + this.width / 2, (y - this.centre.y) * this.scale + this.middle];
  }

  toMap(left, top) {
    return [(left - this.width / 2) / this.scale / this.stretch + this.centre.x, (top - this.middle) / this.scale + this.centre.y];
  }

  pan(across, down) {
    this.centre.x = clamp(this.centre.x - across / this.scale / this.stretch, -1.1, 1.1);
    this.centre.y = clamp(this.centre.y - down / this.scale, -1.1, 1.1);
    this.draw();
  }

  /** Zooms so that what lies under a place of the page stays there. */
  zoomAt(times, left = this.width / 2, top = this.middle) {
    const [x, y] = this.toMap(left, top);
    this.zoom = clamp(this.zoom * times, 0.7, CLOSEST);
    const [nowX, nowY] = this.toMap(left, top);
    this.centre.x = clamp(this.centre.x + x - nowX, -1.1, 1.1);
    this.centre.y = clamp(this.centre.y + y - nowY, -1.1, 1.1);
    this.draw();
  }

  fit() {
    this.centre = { x: 0, y: 0 };
    this.zoom = 1;
    this.draw();
  }

  show(x, y, zoom = this.zoom) {
    this.centre = { x, y };
    this.zoom = clamp(zoom, 0.7, CLOSEST);
    this.draw();
  }

  /** Draws in the next frame. */
  draw() {
    this._moved = true;
    this._asked ||= requestAnimationFrame(() => {
      this._asked = 0;
      this._frame(true);
      clearTimeout(this._rest);
      this._rest = setTimeout(() => this._frame(false), REST_MS);
    });
  }

  _frame(moving) {
    if (!this._sea || !this.width) return;
    // Very many points are drawn less sharply while they move.
    const sharp = moving && this.points.count > MANY ? Math.min(this.ratio, 1) : this.ratio;
    if (sharp !== this._sharp) this._sized(sharp);
    this._drawLand(moving);
    this._drawPoints();
    this._drawMarks();
    this._drawLabels();
    this.frames += 1;
    this.front.dataset.points = String(this.points.count);
    this.front.dataset.frames = String(this.frames);
  }

  // --- land ---

  _drawLand(moving) {
    const ink = this._ground;
    const [width, height] = [this.back.width, this.back.height];
    const key = `${this.centre.x} ${this.centre.y} ${this.zoom}`;
    if (this._settled?.key === key) {
      return;
    }
    if (!moving) {
      const step = 2;
      const [left, top] = this.toMap(0, 0);
      const [right, bottom] = this.toMap(this.width, this.height);
      const picture = this._landPicture(Math.ceil(width / step), Math.ceil(height / step), left, top, right, bottom);
      ink.imageSmoothingEnabled = true;
      ink.imageSmoothingQuality = "high";
      ink.drawImage(picture, 0, 0, width, height);
      this._settled = { key };
      return;
    }
    this._settled = null;
    this._world ??= this._landPicture(LAND, LAND, -EDGE, -EDGE, EDGE, EDGE);
    const [left, top] = this.toPage(-EDGE, -EDGE);
    const size = 2 * EDGE * this.scale * this._sharp;
    ink.fillStyle = `rgb(${this._sea.join(" ")})`;
    ink.fillRect(0, 0, width, height);
    ink.imageSmoothingEnabled = true;
    ink.imageSmoothingQuality = "low";
    ink.drawImage(this._world, left * this._sharp, top * this._sharp, size * this.stretch, size);
  }

  /** Returns a canvas with the land of a part of the map: layers by height, and a line where each begins. */
  _landPicture(width, height, left, top, right, bottom) {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const ink = canvas.getContext("2d");
    const image = ink.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const heights = this._heights(width + 1, height + 1, left, top, (right - left) / width, (bottom - top) / height);
    const shades = this._shades();
    const lines = LEVELS.map((level) => hex(level === COAST ? this._shore : this._contour));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = y * (width + 1) + x;
        const here = heights[at];
        let colour = shades[Math.min(here * 4, 1023) | 0];
        if (here > 8) {
          // How far a level lies, in pixels: its difference by how steep the ground is.
          const across = heights[at + 1] - here;
          const down = heights[at + width + 1] - here;
          const steep = Math.sqrt(across * across + down * down) + 1e-3;
          for (let level = 0; level < LEVELS.length; level++) {
            const far = Math.abs(here - LEVELS[level]) / steep;
            const wide = level ? 0.9 : 1.3;
            if (far < wide) colour = blend(colour, lines[level], Math.min((wide - far) * (level ? 0.7 : 1.1), 1));
          }
        }
        pixels[y * width + x] = colour;
      }
    }
    ink.putImageData(image, 0, 0);
    return canvas;
  }

  /** Returns the heights at the pixels of a part of the map, smoothly between the cells (quadratic B-splines, both ways). */
  _heights(width, height, left, top, across, down) {
    const { cells, heights } = this.points;
    const perCell = cells / (2 * EDGE);
    const found = new Float32Array(width * height);
    const columns = new Int32Array(width);
    const offs = new Float32Array(width);
    for (let x = 0; x < width; x++) {
      const place = (left + x * across + EDGE) * perCell - 0.5;
      columns[x] = Math.round(place);
      offs[x] = place - columns[x];
    }
    const row = new Float32Array(cells);
    for (let y = 0; y < height; y++) {
      const place = (top + y * down + EDGE) * perCell - 0.5;
      const near = Math.round(place);
      if (near < 1 || near > cells - 2) continue;
      const off = place - near;
      const [a, b, c] = [0.5 * (0.5 - off) ** 2, 0.75 - off * off, 0.5 * (0.5 + off) ** 2];
      const first = (near - 1) * cells;
      for (let cell = 0; cell < cells; cell++) row[cell] = a * heights[first + cell] + b * heights[first + cells + cell] + c * heights[first + 2 * cells + cell];
      for (let x = 0; x < width; x++) {
        const cell = columns[x];
        if (cell < 1 || cell > cells - 2) continue;
        const part = offs[x];
        found[y * width + x] = row[cell - 1] * 0.5 * (0.5 - part) * (0.5 - part) + row[cell] * (0.75 - part * part) + row[cell + 1] * 0.5 * (0.5 + part) * (0.5 + part);
      }
    }
    return found;
  }

  /** Returns the colour of each quarter of a height: the sea lighter towards the shore, the land in layers, softly. */
  _shades() {
    const shades = new Uint32Array(1024);
    for (let at = 0; at < 1024; at++) {
      const height = at / 4;
      let level = -1;
      while (level + 1 < LEVELS.length && height >= LEVELS[level + 1]) level += 1;
      let colour;
      if (level < 0) {
        // Three soft steps, as on a chart.
        colour = mix(this._sea, this._layers[0], 0.12 * Math.floor(Math.min(height / COAST, 0.999) * 4));
      } else {
        const next = this._layers[Math.min(level + 1, LEVELS.length - 1)];
        colour = mix(this._layers[level], next, 0.4 * Math.min((height - LEVELS[level]) / 36, 1));
      }
      shades[at] = (0xff000000 | hex(colour)) >>> 0;
    }
    return shades;
  }

  // --- points ---

  /** How large a point is, in pixels of the page: the fewer there are, and the nearer one looks, the larger. */
  get radius() {
    const crowd = clamp(9 * this.points.count ** -0.2, 0.85, 5);
    return clamp(crowd * Math.max(this.zoom, 1) ** 0.38, 0.85, 7);
  }

  _drawPoints() {
    const { points, shown, colour, palette } = this;
    const ratio = this._sharp;
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    if (this._image?.width !== width || this._image?.height !== height) {
      this._image = new ImageData(width, height);
      this._pixels = new Uint32Array(this._image.data.buffer);
    } else {
      this._pixels.fill(0);
    }
    const pixels = this._pixels;
    const scale = this.scale * ratio;
    const wide = scale * this.stretch;
    const left = width / 2 - this.centre.x * wide;
    const top = this.middle * ratio - this.centre.y * scale;
    const radius = this.radius * ratio;
    const out = Math.max(radius * 1.7, (this.plays ? 1.5 : 3.2) * ratio);
    const stamps = [0, radius, radius, out].map((one, at) => (at ? this._stamp(one, at === 2 ? 0.22 : 0.92) : null));
    const reach = Math.ceil(out) + 2;
    const passes = this._broughtOut ? [1, 3] : [1];
    for (const pass of passes) {
      for (let at = 0; at < points.count; at++) {
        const state = shown[at];
        if (!state || (passes.length > 1 && (pass === 3) !== (state === 3))) continue;
        const x = points.x[at] * wide + left;
        const y = points.y[at] * scale + top;
        if (x < reach || y < reach || x > width - reach || y > height - reach) continue;
        put(pixels, width, x, y, stamps[state], palette[colour[at]]);
      }
    }
    this._ink.putImageData(this._image, 0, 0);
  }

  /** Says whether some points are brought out (3 in `shown`), which are drawn over the others; `plays`: as those that just came. */
  bringOut(some, plays = false) {
    this._broughtOut = some;
    this.plays = plays;
    this.draw();
  }

  /** Returns the coverage of each pixel of a disc, for sixteen places of its middle within a pixel. */
  _stamp(radius, strength) {
    const key = `${radius.toFixed(2)} ${strength}`;
    let found = this._stamps.get(key);
    if (!found) {
      if (this._stamps.size > 60) this._stamps.clear();
      const half = Math.ceil(radius + 0.5);
      const size = 2 * half + 1;
      const shapes = [];
      for (let phase = 0; phase < 16; phase++) {
        const offX = (phase % 4) / 4 + 0.125 - 0.5;
        const offY = (phase >> 2) / 4 + 0.125 - 0.5;
        const places = [];
        const weights = [];
        for (let y = -half; y <= half; y++) {
          for (let x = -half; x <= half; x++) {
            const cover = clamp(radius + 0.5 - Math.hypot(x - offX, y - offY), 0, 1) * strength;
            if (cover > 0.03) {
              places.push(x, y);
              weights.push(Math.round(cover * 255));
            }
          }
        }
        shapes.push({ places: Int8Array.from(places), weights: Uint8Array.from(weights) });
      }
      found = { half, size, shapes };
      this._stamps.set(key, found);
    }
    return found;
  }

  // --- marks and labels ---

  _drawMarks() {
    const ink = this._ink;
    const { points } = this;
    ink.save();
    ink.scale(this._sharp, this._sharp);
    ink.strokeStyle = this.markColour;
    if (this.selected.size) {
      ink.lineWidth = this.selected.size > 150 ? 1 : 1.5;
      ink.beginPath();
      let drawn = 0;
      for (const at of this.selected) {
        const [x, y] = this.toPage(points.x[at], points.y[at]);
        if (x < 0 || y < 0 || x > this.width || y > this.height || ++drawn > 3000) continue;
        ink.moveTo(x + this.radius + 2, y);
        ink.arc(x, y, this.radius + 2, 0, 7);
      }
      ink.stroke();
    }
    if (this.marked >= 0) {
      const [x, y] = this.toPage(points.x[this.marked], points.y[this.marked]);
      for (const [style, line] of [[this.haloColour, 6], [this.markColour, 2.5]]) {
        ink.strokeStyle = style;
        ink.lineWidth = line;
        ink.beginPath();
        ink.arc(x, y, this.radius + 5, 0, 7);
        ink.stroke();
      }
    }
    if (this.lasso?.length > 1) {
      ink.strokeStyle = this.markColour;
      ink.setLineDash([6, 4]);
      ink.lineWidth = 2;
      ink.beginPath();
      this.lasso.forEach(([x, y], at) => ink[at ? "lineTo" : "moveTo"](...this.toPage(x, y)));
      ink.closePath();
      ink.globalAlpha = 0.12;
      ink.fillStyle = this.markColour;
      ink.fill();
      ink.globalAlpha = 1;
      ink.stroke();
    }
    ink.restore();
  }

  _drawLabels() {
    const ink = this._ink;
    const taken = [];
    const least = this.zoom > 1.25 ? 0 : this.points.count / 45;
    for (const label of this._labels) {
      const [x, y] = this.toPage(label.x, -label.y);
      if (x < -80 || y < -30 || x > this.width + 80 || y > this.height + 30) continue;
      if (label.great ? this.zoom > 9 : this.zoom < 1.6 && label.count < least) continue;
      const sprite = this._sprite(label);
      const [wide, high] = [sprite.width / this.ratio, sprite.height / this.ratio];
      const box = [clamp(x - wide / 2, 4, Math.max(this.width - wide - 4, 4)), y - high / 2, wide, high];
      if (taken.some((one) => overlap(one, box))) continue;
      taken.push(box);
      ink.drawImage(sprite, Math.round(box[0] * this._sharp), Math.round(box[1] * this._sharp), wide * this._sharp, high * this._sharp);
    }
  }

  /** Returns a small canvas with a label: drawn once, because letters with a halo are slow. */
  _sprite(label) {
    let sprite = this._sprites.get(label);
    if (sprite) return sprite;
    const narrow = this.width < 560;
    const size = label.great ? (narrow ? 14 : 18) : narrow ? 11 : 12.5;
    const lines = label.great ? [label.words[0], label.words.slice(1).join(" · ")].filter(Boolean) : [label.words.join(" · ")];
    const family = label.great ? getComputedStyle(this.front).getPropertyValue("--serif") : getComputedStyle(this.front).getPropertyValue("--sans");
    const fonts = lines.map((_, at) => `${label.great && !at ? "600" : "500"} ${at ? size * 0.7 : size}px ${family || "serif"}`);
    sprite = document.createElement("canvas");
    let ink = sprite.getContext("2d");
    const wide = Math.max(...lines.map((line, at) => {
      ink.font = fonts[at];
      ink.letterSpacing = label.great && !at ? "0.04em" : "0px";
      return ink.measureText(line).width;
    }));
    const high = lines.reduce((sum, _, at) => sum + (at ? size * 0.95 : size * 1.25), 0);
    sprite.width = Math.ceil((wide + 12) * this.ratio);
    sprite.height = Math.ceil((high + 8) * this.ratio);
    ink = sprite.getContext("2d");
    ink.scale(this.ratio, this.ratio);
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    ink.lineJoin = "round";
    let top = 4 + size * 0.62;
    lines.forEach((line, at) => {
      ink.font = fonts[at];
      ink.letterSpacing = label.great && !at ? "0.04em" : "0px";
      ink.strokeStyle = this.haloColour;
      ink.lineWidth = label.great ? 5 : 4;
      ink.globalAlpha = 0.86;
      ink.strokeText(line, (wide + 12) / 2, top);
      ink.globalAlpha = 1;
      ink.fillStyle = this.inkColour;
      ink.fillText(line, (wide + 12) / 2, top);
      top += size * 1.05;
    });
    this._sprites.set(label, sprite);
    return sprite;
  }
}

/** Writes a stamp over the pixels: what lies under it shows through where it does not cover. */
function put(pixels, width, x, y, stamp, colour) {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const shape = stamp.shapes[(((y - top) * 4) << 2) | ((x - left) * 4)] ?? stamp.shapes[0];
  const { places, weights } = shape;
  const rgb = colour & 0xffffff;
  for (let at = 0, one = 0; one < weights.length; at += 2, one++) {
    const pixel = (top + places[at + 1]) * width + left + places[at];
    const cover = weights[one];
    const under = pixels[pixel];
    if (!under || cover > 250) {
      pixels[pixel] = (cover << 24) | rgb;
      continue;
    }
    const old = under >>> 24;
    const alpha = cover + ((old * (255 - cover)) >> 8);
    const share = ((cover << 8) / alpha) | 0;
    const rest = 256 - share;
    const red = ((rgb & 255) * share + (under & 255) * rest) >> 8;
    const green = (((rgb >> 8) & 255) * share + ((under >> 8) & 255) * rest) >> 8;
    const blue = (((rgb >> 16) & 255) * share + ((under >> 16) & 255) * rest) >> 8;
    pixels[pixel] = (alpha << 24) | (blue << 16) | (green << 8) | red;
  }
}

/** A mixture of two colours as they stand in pixels. */
function blend(under, over, share) {
  const part = (share * 256) | 0;
  const rest = 256 - part;
  const red = ((over & 255) * part + (under & 255) * rest) >> 8;
  const green = (((over >> 8) & 255) * part + ((under >> 8) & 255) * rest) >> 8;
  const blue = (((over >> 16) & 255) * part + ((under >> 16) & 255) * rest) >> 8;
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A colour [r, g, b] as it stands in pixels, without coverage. */
export function hex([red, green, blue]) {
  return ((blue << 16) | (green << 8) | red) >>> 0;
}

/** Whether two boxes share some place. */
function overlap(a, b) {
  return a[0] < b[0] + b[2] + 4 && b[0] < a[0] + a[2] + 4 && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];
}

/** Return what lies between two values. @param {number} share */
function mix(from, to, share) {
  return from.map((one, at) => Math.round(one + (to[at] - one) * clamp(share, 0, 1)));
}

/** Return a value within bounds. @param {number} value @param {number} least @param {number} most */
export function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}

