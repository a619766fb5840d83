// What `approvals allow` and `approvals deny` do: finds the question of any run, and enters a person's answer.
import { HeimdallError } from '../../../errors.ts'
import { requirePerson } from '../../../person.ts'
import { bootId } from '../../../boot-id.ts'
import type { PersonAnswer as Said, Lasts, Request } from '../../../runs/approvals.ts'
import { askingFolders, withApprovals } from '../../../runs/open-questions.ts'
import { runsDirOf } from '../../../paths.ts'
import type { Answer, Context } from '../../command.ts'

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
  for (const folder of askingFolders(runsDirOf(context.env))) {
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
