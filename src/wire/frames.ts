// The frames between a session and its clients: one table that codec, documentation and tests read.

/** Every frame is `[tag u8][length u32 BE][payload]`. Clients use 0x01–0x7f, the supervisor 0x80–0xff. */
export const HEADER_BYTES = 5

/** Sent once by the supervisor, unframed, before anything else. 0x01 is reserved for a text mode that nobody speaks. */
export const MODE_BINARY = 0x00

/**
 * Which tags a session knows, as its pid file says: nothing for those from before the requests of ours moved to 0x40,
 * and for programs of others.
 */
export const PROTOCOL = 2

export type Sender = 'client' | 'supervisor'

interface FrameEntry {
  readonly tag: number
  readonly sender: Sender
  /** The name in documents and in seed 001. */
  readonly label: string
  /**
   * How the length is checked, on the header: `any` up to the cap, `ignored` skipped without being kept, a number
   * exactly that many bytes, `{ min }` at least that many.
   */
  readonly size: 'any' | 'ignored' | number | { readonly min: number }
  readonly payload: string
  /** Not in seed 001: sent only to clients that asked for it. Requests of ours begin at 0x40, behind any that the seed may get. */
  readonly added?: true
}

const table = <const T extends Record<string, FrameEntry>>(entries: T): T => entries

/** Tags are never reused. A tag that is not here, or comes from the wrong side, is skipped with its payload. */
export const FRAMES = table({
  input: { tag: 0x01, sender: 'client', label: 'INPUT', size: 'any', payload: 'bytes for the terminal' },
  subscribe: { tag: 0x02, sender: 'client', label: 'SUBSCRIBE', size: 'any', payload: 'empty, or options as JSON' },
  status: { tag: 0x03, sender: 'client', label: 'STATUS', size: 'ignored', payload: 'empty' },
  resize: { tag: 0x04, sender: 'client', label: 'RESIZE', size: 4, payload: '[cols u16][rows u16]' },
  kill: { tag: 0x05, sender: 'client', label: 'KILL', size: 'ignored', payload: 'empty' },
  info: {
    tag: 0x40,
    sender: 'client',
    label: 'INFO',
    size: 'ignored',
    payload: 'empty',
    added: true,
  },
  report: {
    tag: 0x41,
    sender: 'client',
    label: 'REPORT',
    size: { min: 2 },
    payload: 'JSON: what a host hook saw',
    added: true,
  },
  detach: { tag: 0x42, sender: 'client', label: 'DETACH', size: 'ignored', payload: 'empty', added: true },
  rename: {
    tag: 0x43,
    sender: 'client',
    label: 'RENAME',
    size: { min: 1 },
    payload: 'the new id',
    added: true,
  },
  colors: {
    tag: 0x44,
    sender: 'client',
    label: 'COLORS',
    size: { min: 2 },
    payload: "JSON {foreground, background}: the viewer's terminal",
    added: true,
  },
  keep: { tag: 0x45, sender: 'client', label: 'KEEP', size: 'ignored', payload: 'empty', added: true },
  secrets: {
    tag: 0x46,
    sender: 'client',
    label: 'SECRETS',
    size: { min: 2 },
    payload: 'JSON {values}: what is not to be written down',
    added: true,
  },
  caller: {
    tag: 0x47,
    sender: 'client',
    label: 'CALLER',
    size: { min: 2 },
    payload: 'JSON {pid, as}: which process asks, and in what name',
    added: true,
  },
  output: { tag: 0x81, sender: 'supervisor', label: 'OUTPUT', size: 'any', payload: 'bytes of the terminal' },
  statusResp: {
    tag: 0x82,
    sender: 'supervisor',
    label: 'STATUS_RESP',
    size: 15,
    payload: '[pid u32][idle_ms u32][alive u8][state u8][state_ms u32][reserved u8]',
  },
  exit: { tag: 0x83, sender: 'supervisor', label: 'EXIT', size: 4, payload: '[code i32]' },
  gap: {
    tag: 0x84,
    sender: 'supervisor',
    label: 'GAP',
    size: 16,
    payload: '[dropped u64][offset of the next byte u64]',
    added: true,
  },
  state: {
    tag: 0x85,
    sender: 'supervisor',
    label: 'STATE',
    size: { min: 2 },
    payload: 'JSON: what changed',
    added: true,
  },
  replayEnd: {
    tag: 0x86,
    sender: 'supervisor',
    label: 'REPLAY_END',
    size: 8,
    payload: '[offset of the next live byte u64]',
    added: true,
  },
  snapshot: {
    tag: 0x87,
    sender: 'supervisor',
    label: 'SNAPSHOT',
    size: { min: 13 },
    payload:
      '[flags u8: bit 0 = last part, bit 1 = not whole][offset u64][cols u16][rows u16][bytes that draw the screen]',
    added: true,
  },
  error: {
    tag: 0x88,
    sender: 'supervisor',
    label: 'ERROR',
    size: { min: 2 },
    payload: 'JSON {code, message}',
    added: true,
  },
  ack: {
    tag: 0x89,
    sender: 'supervisor',
    label: 'ACK',
    size: 8,
    payload: '[input bytes of this connection written to the terminal so far u64]',
    added: true,
  },
  infoResp: {
    tag: 0x8a,
    sender: 'supervisor',
    label: 'INFO',
    size: { min: 2 },
    payload: 'JSON: everything known of the session',
    added: true,
  },
  activity: { tag: 0x8b, sender: 'supervisor', label: 'ACTIVITY', size: 'ignored', payload: 'empty', added: true },
})

export type FrameName = keyof typeof FRAMES
export type FrameNameFrom<S extends Sender> = {
  [K in FrameName]: (typeof FRAMES)[K]['sender'] extends S ? K : never
}[FrameName]

/** State bytes of STATUS_RESP, and their names in text and JSON. */
export const STATES = {
  idle: 0x00,
  thinking: 0x01,
  streaming: 0x02,
  tool_use: 0x03,
  active: 0x04,
  dead: 0xff,
} as const

export type StateName = keyof typeof STATES

/** A byte that a later supervisor may send and we do not know is shown by its number, never taken for another state. */
export function stateName(byte: number): StateName | `unknown(${number})` {
  const known = (Object.keys(STATES) as StateName[]).find((name) => STATES[name] === byte)
  return known ?? `unknown(${byte})`
}
