// An asciicast (version 2 or 3) as events with their time from the beginning. A torn last line is left out.

export interface PlayedCast {
  readonly cols: number
  readonly rows: number
  readonly lengthMs: number
  readonly events: readonly CastEvent[]
}

type CastEvent =
  | { readonly atMs: number; readonly kind: 'output'; readonly text: string }
  | { readonly atMs: number; readonly kind: 'size'; readonly cols: number; readonly rows: number }

interface Header {
  readonly version: number
  readonly width?: number
  readonly height?: number
  readonly term?: { readonly cols: number; readonly rows: number }
}

export function readCast(text: string): PlayedCast {
  const [head = '', ...lines] = text.split('\n')
  const header = parsed(head) as Header | undefined
  if (header === undefined) throw new Error('this is no recording')
  const events: CastEvent[] = []
  let atMs = 0
  for (const line of lines) {
    const event = parsed(line) as [number, string, string] | undefined
    if (event === undefined) continue
    const [time, code, data] = event
    // Version 3 counts from the event before, version 2 from the beginning.
    atMs = header.version >= 3 ? atMs + time * 1_000 : time * 1_000
    const size = /^(\d+)x(\d+)$/.exec(data)
    if (code === 'o') events.push({ atMs, kind: 'output', text: data })
    else if (code === 'r' && size !== null)
      events.push({ atMs, kind: 'size', cols: Number(size[1]), rows: Number(size[2]) })
  }
  return {
    cols: header.term?.cols ?? header.width ?? 80,
    rows: header.term?.rows ?? header.height ?? 24,
    lengthMs: Math.ceil(atMs),
    events,
  }
}

function parsed(line: string): unknown {
  if (line === '' || line.startsWith('#')) return undefined
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
