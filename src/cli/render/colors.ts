// Terminal colours by name. Not a package: packages create the standard output stream when they are loaded, which is slow.

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  gray: [90, 39],
} as const satisfies Record<string, readonly [number, number]>

export type Colors = Readonly<Record<keyof typeof CODES, (text: string) => string>> & {
  readonly isColorSupported: boolean
}

export function createColors(isOn: boolean): Colors {
  const paints = Object.entries(CODES).map(([name, [start, end]]) => {
    const [before, after] = [`\u001b[${start}m`, `\u001b[${end}m`]
    // A reset inside the text restores the outer colour.
    return [
      name,
      isOn ? (text: string) => before + text.replaceAll(after, after + before) + after : (text: string) => text,
    ]
  })
  return { ...(Object.fromEntries(paints) as Omit<Colors, 'isColorSupported'>), isColorSupported: isOn }
}
