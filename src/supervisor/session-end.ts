// How a session's child ended.

export interface SessionEnd {
  readonly code: number
  readonly signal: number | null
  readonly reason: 'exit' | 'kill'
}
