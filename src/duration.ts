// A time span for humans: the two largest units.

export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 1) return `${Math.floor(ms)}ms`
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${pad(seconds % 60)}s`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours}h${pad(minutes % 60)}m` : `${Math.floor(hours / 24)}d${pad(hours % 24)}h`
}

const pad = (value: number): string => String(value).padStart(2, '0')
