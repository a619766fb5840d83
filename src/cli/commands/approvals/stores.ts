// Where questions to a person lie: one small database in the folder of each run that has asked.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../../../errors.ts'
import { runsDirOf } from '../../../runs/run-close.ts'
import { requirePerson } from '../../../person.ts'
import { bootId } from '../../../boot-id.ts'
import {
  type Answer as Said,
  APPROVAL_MIGRATIONS,
  Approvals,
  approvalsPath,
  type Lasts,
  type Request,
  SOLO_FOLDER,
} from '../../../shim/approvals.ts'
import { openDatabase } from '../../../storage/sqlite.ts'
import type { Answer, Context } from '../../command.ts'

/** Folders of runs in which somebody was asked. */
export function askingRuns({ env }: Context): string[] {
  const runs = runsDirOf(env)
  const solo = join(runs, SOLO_FOLDER)
  return [...namesIn(runs).map((name) => join(runs, name)), ...namesIn(solo).map((name) => join(solo, name))].filter(
    (folder) => existsSync(approvalsPath(folder)),
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

export function withApprovals<T>(folder: string, act: (approvals: Approvals) => T): T {
  const approvals = new Approvals(openDatabase(approvalsPath(folder), { migrations: APPROVAL_MIGRATIONS }))
  try {
    return act(approvals)
  } finally {
    approvals.close()
  }
}

export interface AnswerFlags {
  readonly once: boolean | undefined
  readonly for: number | undefined
  readonly run: boolean | undefined
  readonly rule: boolean | undefined
}

/** What `allow` and `deny` do. Without a word about it a yes is for one call, and a no for the run: else the agent would just ask again. */
export function answer(context: Context, ids: readonly string[], said: Said, flags: AnswerFlags): Answer {
  const lasts = lastsOf(flags, said)
  const person = requirePerson(`heimdall approvals ${said}`)
  const at = new Date(context.clock.wallMs()).toISOString()
  const now = { bootId: bootId(), monoMs: context.clock.monoMs() }
  const answered = ids.map((id) => {
    const { folder, request } = find(context, id)
    withApprovals(folder, (approvals) =>
      approvals.answer(request, said, { by: person.name, at, lasts, ofRule: flags.rule === true, now }),
    )
    return { ...shown(request), answer: said, answered_by: person.name, answered_at: at }
  })
  const what = flags.rule === true ? 'every call of the rule' : 'this call'
  const word = said === 'allow' ? 'Allowed' : 'Denied'
  return {
    data: { answered },
    text: answered
      .map(
        ({ id, tool_name: tool, rule_id: rule }) =>
          `${word} ${id}: ${what} ${flags.rule === true ? rule : `of ${tool}`}, ${lastsText(lasts)}`,
      )
      .join('\n'),
  }
}

function lastsOf({ once, for: ms, run }: AnswerFlags, said: Said): Lasts {
  if ([once === true, ms !== undefined, run === true].filter(Boolean).length > 1)
    throw new HeimdallError('USAGE', 'say one of --once, --for and --run')
  if (ms !== undefined) return { kind: 'for', ms }
  if (once === true) return { kind: 'once' }
  return run === true || said === 'deny' ? { kind: 'run' } : { kind: 'once' }
}

function lastsText(lasts: Lasts): string {
  return lasts.kind === 'once' ? 'once' : lasts.kind === 'run' ? 'for the whole run' : `for ${lasts.ms / 1_000} s`
}

function find(context: Context, id: string): { readonly folder: string; readonly request: Request } {
  for (const folder of askingRuns(context)) {
    const request = withApprovals(folder, (approvals) => approvals.list().find((one) => one.id === id))
    if (request !== undefined) return { folder, request }
  }
  throw new HeimdallError('APPROVAL_NOT_FOUND', `no question has the id ${id}`, {
    hint: 'heimdall approvals list shows what is asked',
  })
}

/** A question as commands print it. */
export function shown({
  of_rule,
  ...request
}: Request): Omit<Request, 'of_rule'> & { readonly of_rule: boolean | null } {
  return { ...request, of_rule: of_rule === null ? null : of_rule === 1 }
}
