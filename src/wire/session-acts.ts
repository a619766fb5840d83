// What clients have done to a session, as its records have it. Pure.

export interface SessionAct {
  readonly at: string
  readonly act: 'kill' | 'rename' | 'secrets' | 'secrets refused'
  /** The command and who gave it, as processes show it; `a client of the socket` where that is not known. */
  readonly by: string
  /** What it was about, in words; empty where the act says it. */
  readonly what: string
}
