// A worker as the orchestrator talks to it, whatever the transport.
import type { TaskQuestion } from '../coordination/dispatched.ts'
import type { Announce, TaskDispatch, TaskResult } from './messages.ts'

export type PeerReply =
  /** It has the task: under this id it can be asked for. */
  | { readonly kind: 'working'; readonly remoteId: string }
  /** It has the task, cannot be asked for it, and will answer in a message of its own. */
  | { readonly kind: 'later'; readonly remoteId: string }
  /** It is over, or was never begun. `isProse`: the result was made from the peer's text, because it sent no TASK_RESULT. */
  | { readonly kind: 'ended'; readonly remoteId: string; readonly result: TaskResult; readonly isProse?: boolean }
  /** It wants something of a person before it goes on. */
  | ({ readonly kind: 'asks'; readonly remoteId: string } & TaskQuestion)
  /** It provably has not begun: the connection was refused, or the peer would not hear of it. */
  | { readonly kind: 'refused'; readonly why: string }
  /**
   * It answered that it will not have this message. `fault`: that something went wrong, so that it may have begun;
   * `busy`: not now; `too_large`: more than is read, so that what it has done stays unknown.
   */
  | { readonly kind: 'rejected'; readonly why: string; readonly how: 'refusal' | 'fault' | 'busy' | 'too_large' }
  /** No answer: it may have the task or not. */
  | { readonly kind: 'silent'; readonly why: string }
  /** It answers, and knows no such task. */
  | { readonly kind: 'unknown'; readonly why: string }

/** What a worker was at with a task when it was last heard of; nothing where that is not known. */
export type At = 'working' | TaskQuestion | undefined

export const isAt = (reply: PeerReply, at: At): boolean =>
  at === 'working'
    ? reply.kind === 'working'
    : at !== undefined && reply.kind === 'asks' && reply.question === at.question && reply.isAuth === at.isAuth

export interface Peer {
  /** May be repeated: the same attempt is taken once. */
  send(contract: TaskDispatch, earlier: readonly string[], signal: AbortSignal): Promise<PeerReply>
  /** Resolves when it is at something else than `at`, or with what it is at when it stops telling. */
  follow(
    remoteId: string,
    contract: TaskDispatch,
    at: At,
    onProgress: (line: string) => void,
    signal: AbortSignal,
  ): Promise<PeerReply>
  /** What a person says to its question. */
  answer(
    remoteId: string,
    contract: TaskDispatch,
    answer: { readonly text: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<PeerReply>
  cancel(remoteId: string, signal: AbortSignal): Promise<void>
  /** What it announces when asked; nothing from one without the extension. */
  pull(
    signal: AbortSignal,
  ): Promise<{ readonly announce: Announce; readonly speaks: 'extension' | 'plain' } | undefined>
}
