// One box over agents, paths, calls, notes and tasks: what each store finds, the best first within each kind.
import type { Coordination } from '../../coordination/coordination.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_HITS_MAX, HUB_ROWS_MAX } from '../../limits.ts'
import { search } from '../../runs/index/search.ts'
import type { Hit } from '../contract.ts'
import type { Picture } from '../live/picture.ts'
import type { OpenBook } from './call-book.ts'
import { callOf } from './calls.ts'
import { conversation } from './conversation.ts'
import type { KnownFile } from './repository-files.ts'
import type { RunsOfProject } from './run-project.ts'
import { tasksNow } from './task-rows.ts'

const has = (text: string, words: readonly string[]): boolean => {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

export const wordsOf = (q: string): string[] =>
  q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')

export function agentHits({ agents }: Picture, words: readonly string[]): Hit[] {
  return agents
    .filter((card) =>
      has(
        JSON.stringify([
          card.agent_id,
          card.task,
          card.branch,
          card.last_line,
          card.evidence.detail,
          card.claims.map(({ scopes }) => scopes),
        ]),
        words,
      ),
    )
    .slice(0, HUB_HITS_MAX)
    .map((card) => ({
      kind: 'agent',
      title: card.agent_id,
      text: [card.task?.title, card.last_line ?? card.evidence.detail]
        .filter((part) => part !== undefined && part !== null)
        .join(' · '),
      at: card.evidence.since,
      state: card.state,
      ref: card.agent_id,
      command: card.command,
    }))
}

/** With whoever holds each, by the same algebra that claims are decided by. */
export function pathHits(
  files: readonly KnownFile[],
  { agents }: Picture,
  words: readonly string[],
  claimsOf: (path: string) => readonly string[],
): Hit[] {
  const holders = new Map(
    agents.flatMap(({ agent_id: id, claims }) => claims.map(({ claim_id: claim }) => [claim, id] as const)),
  )
  return files
    .filter(({ path }) => has(path, words))
    .slice(0, HUB_HITS_MAX)
    .map(({ path, lines }) => {
      const held = [...new Set(claimsOf(path).flatMap((claim) => holders.get(claim) ?? []))]
      return {
        kind: 'path',
        title: path,
        text: [
          ...(held.length === 0 ? [] : [`held by ${held.join(', ')}`]),
          ...(lines === undefined ? [] : [lines === 1 ? '1 line' : `${lines} lines`]),
        ].join(' · '),
        at: null,
        state: null,
        ref: path,
        command: `heimdall why ${path}`,
      }
    })
}

/** The index knows words by their beginnings. */
export function callHits(book: OpenBook, runs: RunsOfProject, q: string): Hit[] {
  try {
    return search(book.index, { text: q, order: 'newest', limit: HUB_HITS_MAX * 4 })
      .filter(({ record }) => runs.has(record))
      .slice(0, HUB_HITS_MAX)
      .map((entry) => {
        const call = callOf(entry, book)
        return {
          kind: call.decision === 'allowed' || call.decision === 'undecided' ? 'call' : 'decision',
          title: `${call.server ?? ''} · ${call.tool ?? ''}`,
          text: [call.decision.replaceAll('_', ' '), call.rule, call.agent_id, call.args]
            .filter((part) => part !== null)
            .join(' · '),
          at: call.at,
          state: null,
          ref: `${call.run_id}/${call.call_id}`,
          command: `heimdall events show ${call.call_id}`,
        }
      })
  } catch (error) {
    // Nothing in it that is a word.
    if (!(error instanceof HeimdallError) || error.code !== 'USAGE') throw error
    return []
  }
}

export function noteHits(room: Coordination, words: readonly string[]): Hit[] {
  return conversation(room, { last: HUB_ROWS_MAX * 4 })
    .rows.toReversed()
    .filter(
      (row) =>
        row.kind === 'note' &&
        row.note !== null &&
        has(`${row.text} ${row.detail ?? ''} ${row.actor ?? ''} ${row.to ?? ''}`, words),
    )
    .slice(0, HUB_HITS_MAX)
    .map((row) => ({
      kind: 'note',
      title: `${row.label} ${row.to ?? ''}`,
      text: row.text,
      at: row.at,
      state: null,
      ref: row.note?.note_id ?? row.row_id,
      command: `heimdall note list --agent ${row.to ?? ''}`,
    }))
}

export function taskHits(room: Coordination, words: readonly string[]): Hit[] {
  return tasksNow(room)
    .tasks.filter(({ task_id: id, title }) => has(`${id} ${title}`, words))
    .slice(0, HUB_HITS_MAX)
    .map(({ task_id: id, title, started_at: at }) => ({
      kind: 'task',
      title: id,
      text: title,
      at,
      state: null,
      ref: id,
      command: 'heimdall task list',
    }))
}
