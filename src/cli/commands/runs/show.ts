// heimdall runs show: what is known of one run, or its events as they come.
import type { Clock } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { followRecord } from '../../../runs/follow-record.ts'
import { knownRun } from '../../../runs/known-run.ts'
import { RecordReader } from '../../../runs/record-reader.ts'
import { runsDirOf } from '../../../paths.ts'
import { factsOf, type RunFacts } from '../../../runs/run-facts.ts'
import { recordPath } from '../../../runs/run-log.ts'
import type { Answer, Run } from '../../command.ts'
import { costText } from '../../render/cost.ts'
import { size } from '../../render/size.ts'
import type { runsShow } from '../../table/runs.ts'
import { TextOut } from '../session/text-out.ts'

export const run: Run<typeof runsShow> = async ({ env, clock, stdout }, { args, flags }) => {
  const folder = knownRun(runsDirOf(env), args.id)
  if (flags.from < 0) throw new HeimdallError('USAGE', `--from takes 0 or more, got ${flags.from}`)
  if (flags.follow === true) return await follow(folder.runDir, flags.from, clock, new TextOut(stdout))
  const facts = factsOf(folder)
  const record = recordPath(folder.runDir)
  return { data: { run: facts, record }, text: textOf(facts, record) }
}

/** Until the end that is the last thing in the record: a run may go on in another segment. */
async function follow(runDir: string, from: number, clock: Clock, out: TextOut): Promise<Answer> {
  for await (const { text, event, end } of followRecord(runDir, { from, clock })) {
    if (!(await out.write(`${text}\n`))) break
    if (event.type === 'run_end' && isLast(runDir, end)) break
  }
  return { data: null, text: '', streamed: true }
}

function isLast(runDir: string, end: number): boolean {
  const reader = new RecordReader(runDir, end)
  try {
    const next = reader.read()
    return next === 'gone' || next.length === 0
  } finally {
    reader.close()
  }
}

function stateText({ state, status, members }: RunFacts): string {
  if (state === 'unknown') return state
  if (state === 'lost') return 'lost: its processes are gone; heimdall doctor closes it'
  return state === 'open' ? `open, ${members} taking part` : `ended, ${status}`
}

function textOf(facts: RunFacts, record: string): string {
  const { calls } = facts
  const rows: readonly (readonly [string, string | null])[] = [
    ['run', facts.run_id ?? facts.folder],
    ['state', stateText(facts)],
    ['agent', facts.agent_id],
    ['haid', facts.haid],
    ['session', facts.session_id],
    ['client', facts.client],
    ['started', facts.started_at],
    ['changed', facts.changed_at],
    ['segment', String(facts.segment)],
    [
      'calls',
      `${calls.total}: ${calls.allowed} allowed, ${calls.blocked} blocked, ${calls.throttled} throttled, ${calls.errors} with errors`,
    ],
    ['cost', facts.cost === null ? null : costText(facts.cost)],
    ['size', size(facts.bytes)],
    ['record', record],
  ]
  return rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.padEnd(8)} ${escapeControls(value ?? '')}`)
    .join('\n')
}
