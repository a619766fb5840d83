// Colours by number, as programs and terminals write them. Pure.

/** `#rgb` to `#rrrrggggbbbb` and `rgb:r/g/b` with 1 to 4 digits each, as X names colours by number; names are not known. */
export function parseColor(text: string): number | undefined {
  const hash = /^#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{9}|[0-9a-f]{12})$/i.exec(text)?.[1]
  const digits = hash === undefined ? 0 : hash.length / 3
  const parts =
    hash === undefined
      ? /^rgb:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})$/i.exec(text)?.slice(1)
      : [0, 1, 2].map((n) => hash.slice(n * digits, (n + 1) * digits))
  if (parts === undefined) return undefined
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    // A short number after # stands for the highest bits, after rgb: for a fraction of the whole.
    hash === undefined
      ? Math.round((Number.parseInt(part, 16) * 255) / (16 ** part.length - 1))
      : Number.parseInt(part.padEnd(2, '0').slice(0, 2), 16),
  )
  return (red << 16) | (green << 8) | blue
}

export const hexColor = (color: number): string => `#${color.toString(16).padStart(6, '0')}`
