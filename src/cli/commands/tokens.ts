// Commands of the token ledger: `heimdall tokens` and `heimdall-ledger`.
import { declareBaseline, measureBaseline, readBaselines } from '../../briefing/baselines.ts'
import { logDeclared, logText, readLedger } from '../../briefing/token-ledger.ts'
import {
  countedRows,
  DELTA_HEADER,
  deltaLine,
  reportLines,
  spanOf,
  totalsBy,
  totalsOf,
} from '../../briefing/token-report.ts'
import { measure, TOKENIZERS } from '../../briefing/tokens.ts'
import { HeimdallError } from '../../errors.ts'
import { type Command, command, type Context, type FlagSpec } from '../command.ts'
import { readInput } from '../input-file.ts'
import { briefingNames, planningOf, runIdOf, runToSum } from '../planning-of.ts'
import { usageError } from '../usage-error.ts'

const role = { value: 'ROLE', required: true, help: 'the role that pays' } as const satisfies FlagSpec
const counted = {
  tokens: { type: 'integer', value: 'N', help: 'the number of tokens, logged as declared' },
  file: { value: 'FILE', help: 'count the tokens of this text, logged as measured; - is stdin' },
  tokenizer: { choices: TOKENIZERS, help: 'the tokenizer to count with; default o200k_base' },
} as const satisfies Record<string, FlagSpec>
const summed = {
  run: { value: 'ID', help: 'only rows of this run; default SUB_RUN_ID' },
  all: { help: 'rows of all runs, even if SUB_RUN_ID is set' },
} as const satisfies Record<string, FlagSpec>

/** The text to count, or undefined if the caller declares a number: exactly one of --tokens and --file is required. */
async function textToCount(
  context: Context,
  { tokens, file }: { readonly tokens: number | undefined; readonly file: string | undefined },
): Promise<string | undefined> {
  if ((tokens === undefined) === (file === undefined))
    throw usageError(
      'exactly one of --tokens N and --file FILE is needed',
      '--file counts the tokens of a text; --tokens declares a number',
    )
  return file === undefined ? undefined : (await readInput(context, file)).toString('utf8')
}

export const commands: readonly Command[] = [
  command({
    names: briefingNames('tokens log', 'ledger log'),
    changes: true,
    summary: 'Log the tokens of a message or spawn',
    about: 'A measured text is logged once for each message id of a run.',
    flags: {
      role,
      kind: {
        value: 'KIND',
        required: true,
        help: 'the kind of message: delta_brief, task_result, …',
      },
      ...counted,
      cached: { type: 'integer', value: 'N', help: 'how many of --tokens came from a prompt cache' },
      'msg-id': { value: 'ID', help: 'id of the message' },
      run: { value: 'ID', help: 'the run; default SUB_RUN_ID' },
    },
    examples: {
      'heimdall tokens log --role orchestration --kind delta_brief --file brief.txt --msg-id b1':
        'counts the file and prints logged orchestration/delta_brief=…',
      'heimdall-ledger log --role coder --kind task_result --tokens 250': 'prints logged coder/task_result=250',
    },
    output: 'ts, role, kind, tokens, source (measured or declared), tokenizer (or null)',
    run: async (context, { flags }) => {
      const entry = { role: flags.role, kind: flags.kind, msgId: flags['msg-id'], runId: flags.run ?? runIdOf(context) }
      const { tokens = 0, cached = 0, tokenizer } = flags
      if (cached > tokens) throw usageError(`--cached ${cached} is more than --tokens ${tokens}`)
      const text = await textToCount(context, flags)
      const planning = planningOf(context)
      const row =
        text === undefined
          ? await logDeclared(planning, entry, { tokens, cachedTokens: flags.cached, tokenizer })
          : await logText(planning, entry, text, { tokenizer })
      if (row === undefined)
        return { data: null, text: `already logged ${flags['msg-id']}: this run has measured it before` }
      return { data: row, text: `logged ${row.role}/${row.kind}=${row.tokens}` }
    },
  }),
  command({
    names: briefingNames('tokens report', 'ledger report'),
    summary: 'Print the totals of the token ledger per role',
    flags: summed,
    examples: { 'heimdall tokens report': 'prints tokens and messages of each role, and the total' },
    output:
      'roles and runs (each with tokens, cached, uncached, messages, measured, declared), total, over {run (null for all), rows, runs, from, to}, unreadable (invalid lines)',
    run: async (context, { flags }) => {
      const planning = planningOf(context)
      const { rows, unreadable } = readLedger(planning)
      const run = runToSum(context, flags, rows)
      const included = countedRows(rows, run)
      const span = spanOf(included)
      const total = totalsOf(included)
      if (unreadable > 0) context.note(`note: ${unreadable} lines of the ledger are invalid and not counted`)
      const over = run === undefined ? 'all runs' : run === runIdOf(context) ? 'this run' : `run ${run}`
      planning.log('ledger', 'report', `${over} total=${total.tokens}`)
      const lines = reportLines(included, over)
      // The seed's launcher prints the seed's lines only.
      if (!context.isSeedName)
        lines.push(
          `  measured ${total.measured}, declared ${total.declared}; cached ${total.cached}, uncached ${total.uncached}`,
          span.from === null
            ? '  no rows'
            : `  over ${span.rows} rows of ${span.runs} runs, ${span.from} to ${span.to}`,
        )
      const data = {
        roles: Object.fromEntries(totalsBy(included, (row) => row.role)),
        runs: Object.fromEntries(totalsBy(included, (row) => row.run_id ?? '')),
        total,
        over: { run: run ?? null, ...span },
        unreadable,
      }
      return { data, text: lines.join('\n') }
    },
  }),
  command({
    names: briefingNames('tokens baseline', 'ledger baseline'),
    changes: true,
    summary: 'Set the tokens that a role needs without briefs, to compare with',
    flags: { role, ...counted },
    examples: {
      'heimdall tokens baseline --role orchestration --file verbatim.txt':
        'counts the file and prints baseline orchestration = … (v1)',
    },
    output: 'role, tokens, source (counted or declared)',
    run: async (context, { flags }) => {
      if (flags.tokens === 0)
        throw new HeimdallError('INVALID_ARGS', 'a baseline must be more than 0 tokens', {
          hint: 'give what the task costs without briefs, or a text to count: --file FILE',
        })
      const text = await textToCount(context, flags)
      const planning = planningOf(context)
      const measured = text === undefined ? undefined : measure(text, flags.tokenizer)
      const tokens = measured?.tokens ?? flags.tokens ?? 0
      if (measured === undefined) await declareBaseline(planning, flags.role, tokens)
      else await measureBaseline(planning, flags.role, measured)
      return {
        data: { role: flags.role, tokens, source: measured === undefined ? 'declared' : 'counted' },
        text: `baseline ${flags.role} = ${tokens} (v1)`,
      }
    },
  }),
  command({
    names: briefingNames('tokens delta', 'ledger delta'),
    summary: 'Compare the token ledger with the baselines, per role',
    flags: { role: { value: 'ROLE', help: 'only this role' }, ...summed },
    examples: { 'heimdall tokens delta --role orchestration': 'prints baseline, tokens and change in percent' },
    output: 'roles: list of {role, baseline, tokens, cached, uncached, messages, measured, declared}',
    run: async (context, { flags }) => {
      const planning = planningOf(context)
      const baselines = readBaselines(planning)
      const { rows } = readLedger(planning)
      const included = countedRows(rows, runToSum(context, flags, rows))
      const names = flags.role === undefined ? [...baselines.keys()].sort() : [flags.role]
      const roles = names.map((name) => ({
        role: name,
        baseline: baselines.get(name) ?? null,
        ...totalsOf(included.filter((row) => row.role === name)),
      }))
      planning.log('ledger', 'delta', names.join(','))
      const declared = roles.filter(
        (one) => one.messages > 0 && (one.declared > 0 || one.baseline?.source === 'declared'),
      )
      if (declared.length > 0)
        context.note(`note: some numbers of ${declared.map((one) => one.role).join(', ')} were declared, not measured`)
      const lines = roles.map((one) => deltaLine(one.role, one.baseline?.tokens, one))
      return { data: { roles }, text: [DELTA_HEADER, ...lines].join('\n') }
    },
  }),
]
