// Parses a time in a flag: how long ago, or a date.
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `2h` ago, or a time; a date is midnight UTC. Undefined for any other text. */
export function momentIn(text: string, nowMs: number): number | undefined {
  const parts = [...text.matchAll(/(\d{1,9})([smhdw])/g)]
  if (text !== '' && parts.map(([whole]) => whole).join('') === text)
    return nowMs - parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS_MS[unit ?? ''] ?? 0), 0)
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
