// Values as columns: tab-separated rows in which no value can end its column or forge another row.

// Controls, separators that some readers take for line ends, and marks that reorder or hide what a person reads.
const UNSAFE =
  /[\\\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu

const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const LONG: Readonly<Record<string, string>> = { '\\': '\\', t: '\t', n: '\n', r: '\r' }

/** `\t`, `\n`, `\r`, `\\`, and `\uXXXX` for every other character that could mislead; reversible. */
export function escapeColumn(text: string): string {
  return text.replace(UNSAFE, (c) => SHORT[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function unescapeColumn(column: string): string {
  return column.replace(/\\(?:u([0-9a-f]{4})|([\\tnr]))/g, (_, hex: string | undefined, letter: string | undefined) =>
    hex === undefined ? (LONG[letter ?? ''] ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

export function row(...columns: readonly string[]): string {
  return columns.map(escapeColumn).join('\t')
}
