// Commands that brief agents and validate their messages: `heimdall protocol`, `message`, `brief` and `gate`.
import { buildBrief } from '../../briefing/brief.ts'
import type { Planning } from '../../briefing/planning.ts'
import type { MessageVerdict } from '../../briefing/verdict.ts'
import { escapeControls, printable } from '../../ids.ts'
import { MESSAGE_BYTES_MAX } from '../../limits.ts'
import { unescapeColumn } from '../../storage/columns.ts'
import { tail } from '../../storage/protocol-log.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { briefingNames, listOf, logCost, loggedFlags, newMessageId, planningOf } from '../planning-of.ts'
import { readInput } from '../input-file.ts'
import { readAll, readLines } from '../stdin.ts'
import { print } from '../stdout.ts'
import { usageError } from '../usage-error.ts'

// zod and the schema are loaded only by the commands that validate or print a message.
const verdicts = () => import('../../briefing/verdict.ts')

const isBlank = (line: Buffer): boolean => line.byteLength <= MESSAGE_BYTES_MAX && line.toString('utf8').trim() === ''

type Check = (bytes: Buffer) => Promise<MessageVerdict>

/** One verdict line per message, as they arrive; exit 1 if any message is invalid. */
async function validateStream(context: Context, check: Check): Promise<Answer> {
  const { verdictLine } = await verdicts()
  let refused = 0
  for await (const line of readLines(context.stdin, MESSAGE_BYTES_MAX)) {
    if (isBlank(line)) continue
    const verdict = await check(line)
    if (!verdict.valid) refused += 1
    await print(context.stdout, verdictLine(verdict))
  }
  return { data: { refused }, text: '', streamed: true, exit: refused === 0 ? 0 : 1 }
}

/** Seed 000: an invalid message gets one retry, the next line; a second failure is escalated. */
async function validateOnReceipt(context: Context, planning: Planning, check: Check): Promise<Answer> {
  let attempts = 0
  let errors: readonly string[] = []
  for await (const line of readLines(context.stdin, MESSAGE_BYTES_MAX)) {
    if (isBlank(line)) continue
    attempts += 1
    const verdict = await check(line)
    if (verdict.valid) {
      if (attempts > 1) planning.log('validate', 'accept-retry', `attempt=${attempts}`)
      const text = attempts === 1 ? 'ACCEPTED' : `ACCEPTED on retry (attempt ${attempts})`
      return { data: { accepted: true, attempts, errors }, text }
    }
    errors = verdict.errors
    context.note(`INVALID (attempt ${attempts}): ${JSON.stringify(errors)}`)
    if (attempts === 2) break
    context.note('waiting for one retry: the next line')
  }
  const ended = attempts < 2 ? 'stream-end ' : ''
  planning.log('validate', 'escalate', `${ended}attempts=${attempts}`)
  context.note(`ESCALATE: no valid message after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`)
  return { data: { accepted: false, attempts, errors }, text: '', exit: 1 }
}

/** `@FILE` and `-` stand for a text; a text that starts with @ is read from stdin. */
async function specOf(context: Context, spec: string): Promise<string> {
  if (spec !== '-' && !spec.startsWith('@')) return spec
  return (await readInput(context, spec === '-' ? spec : spec.slice(1))).toString('utf8')
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall protocol init', 'heimdall-protocol init'],
    changes: true,
    summary: 'Create or repair the planning folder, and write the message schema to it',
    examples: { 'heimdall protocol init': 'creates .planning and prints the paths of its files' },
    output: 'paths: protocol, symbols, blackboard, capsules, ledger, schema, log, baselines',
    run: async (context) => {
      const { initPlanning } = await import('../../briefing/init.ts')
      const paths = await initPlanning(planningOf(context))
      const text = [
        `initialized protocol layout under ${paths.protocol}`,
        `  symbols:    ${paths.symbols}`,
        `  blackboard: ${paths.blackboard}`,
        `  capsules:   ${paths.capsules}/`,
        `  ledger:     ${paths.ledger}`,
        `  schema:     ${paths.schema}`,
        `  log:        ${paths.log}`,
      ]
      return { data: paths, text: text.map(escapeControls).join('\n') }
    },
  }),
  command({
    names: ['heimdall protocol log', 'heimdall-protocol log'],
    summary: 'Print the last lines of protocol.log',
    args: [{ name: 'count', help: 'how many lines; default 20', optional: true }],
    examples: { 'heimdall protocol log 5': 'prints the last five actions' },
    output: 'lines: list of {ts, actor, action, detail}',
    run: async (context, { args: { count = '20' } }) => {
      if (!/^\d{1,9}$/.test(count)) throw usageError(`COUNT must be a whole number, got ${printable(count)}`)
      const lines = tail(planningOf(context), Number(count))
      const rows = lines.map((line) => {
        const [ts = '', actor = '', action = '', detail = ''] = line.split('\t').map(unescapeColumn)
        return { ts, actor, action, detail }
      })
      return { data: { lines: rows }, text: lines.join('\n') }
    },
  }),
  command({
    names: ['heimdall protocol demo', 'heimdall-protocol demo'],
    summary: 'Measure briefs by reference against the full text, on a sample project',
    about:
      'Briefs one wave of corpus/tally three times: verbatim, by hand and by reference. All numbers are counted from\n' +
      "texts that are built in a temporary folder; your project's token ledger does not change. Your savings depend on\n" +
      "the length of your plans and reports. Exit 1 if a brief lacks a fact that its task's acceptance needs.",
    examples: { 'heimdall protocol demo': 'prints the cost of all three, with and without prompt caching' },
    output:
      'tokenizer, spawns, baseline (tokens of the verbatim briefs), tokens (symbol table, briefs and results), rows (of the ledger), verbatim, byHand and protocol (shared, own and one-off tokens per spawn), before (tokens of earlier capsules and facts), opened (the same as protocol, with total tokens, if every spawn opens every reference), fidelity (facts in the brief, one reference away, lost), briefs',
    run: async (context) => {
      const [{ demoLines }, { runDemo }] = await Promise.all([
        import('../../briefing/demo/card.ts'),
        import('../../briefing/demo/three-briefings.ts'),
      ])
      const demo = await runDemo(context.clock)
      const { arms, ...figures } = demo
      return {
        data: { ...figures, briefs: arms.protocol.briefs },
        text: demoLines(demo).join('\n'),
        exit: demo.fidelity.lost.length === 0 ? 0 : 1,
      }
    },
  }),
  command({
    names: briefingNames('message validate', 'validate'),
    summary: 'Validate messages from stdin against the message schema',
    about: 'By default stdin is one message. Prints {"valid":…,"errors":[…]}. Exit 1 if the message is invalid.',
    flags: {
      'on-receipt': {
        help: 'one message per line: an invalid one gets one retry, the next line, then it is escalated',
      },
      stream: { help: 'one message per line, and one verdict per line' },
      role: loggedFlags.role,
    },
    examples: {
      [`echo '{"type":"question","from":"coder","msg_id":"m1","question":"which port?"}' | heimdall message validate`]:
        'prints {"valid":true,"errors":[]}',
      'heimdall message validate --stream < inbox.jsonl': 'prints one verdict for each line of the file',
    },
    output: 'valid, errors (one for each field)',
    run: async (context, { flags }) => {
      const { judgeText, verdictLine } = await verdicts()
      const planning = planningOf(context)
      const check: Check = async (bytes) => {
        const verdict = judgeText(bytes)
        if (!verdict.valid) {
          planning.log('validate', 'reject', JSON.stringify(verdict.errors))
          return verdict
        }
        const { type, msg_id } = verdict.message
        planning.log('validate', 'accept', msg_id)
        await logCost(context, planning, { role: flags.role, kind: type, msgId: msg_id }, bytes.toString('utf8').trim())
        return verdict
      }
      if (flags.stream === true) return await validateStream(context, check)
      if (flags['on-receipt'] === true) return await validateOnReceipt(context, planning, check)
      const verdict = await check(await readAll(context.stdin, MESSAGE_BYTES_MAX))
      const { valid, errors } = verdict
      return { data: { valid, errors }, seedJson: { valid, errors }, text: verdictLine(verdict), exit: valid ? 0 : 1 }
    },
  }),
  command({
    names: ['heimdall message schema'],
    summary: 'Print the JSON Schema (draft-07) of messages',
    about: 'heimdall protocol init writes the same schema to .planning/protocol/message-schema.json.',
    examples: { 'heimdall message schema > message-schema.json': 'saves the schema for another validator' },
    output: 'schema',
    run: async () => {
      const { publishedSchema } = await import('../../briefing/messages.ts')
      const schema = publishedSchema()
      return { data: { schema }, text: JSON.stringify(schema, null, 2) }
    },
  }),
  command({
    names: briefingNames('brief build', 'brief build'),
    changes: true,
    summary: 'Build the brief of a task: its specification, with all references resolved',
    about:
      'Text that several briefs share comes first and is identical, so that prompt caches can serve it; the task is last.\n' +
      'If a reference cannot be resolved, the command names all of them, prints no brief and exits 1. heimdall-brief\n' +
      'exits 3 if a store cannot be read.',
    flags: {
      task: { value: 'ID', required: true, help: 'id of the task' },
      spec: { value: 'TEXT', required: true, help: 'what to do; @FILE reads a file, - reads stdin' },
      symbols: { value: 'IDS', help: 'symbols that the task refers to, separated by commas' },
      capsules: { value: 'IDS', help: 'capsules that the task builds on; adds their dependencies' },
      facts: { value: 'KEYS', help: 'facts from the blackboard that the task needs' },
      invariants: {
        value: 'PATH[#ANCHOR]',
        help: 'page with the invariants; file and anchor must exist',
      },
      budget: { type: 'integer', value: 'N', help: 'at most N tokens; references that do not fit are listed by id' },
      ...loggedFlags,
    },
    examples: {
      'heimdall brief build --task 3.2 --spec "implement book diff" --symbols F12,C3 --capsules w2 --invariants INVARIANTS.md':
        'prints the brief',
    },
    output:
      'task, msg_id, text (the brief), omitted (list of {kind, id} that did not fit into the budget), open (ids that the texts mention and the brief does not resolve), warnings',
    run: async (context, { flags }) => {
      const planning = planningOf(context)
      const { text, prefix, omitted, open, warnings } = buildBrief(planning, {
        task: flags.task,
        spec: await specOf(context, flags.spec),
        symbols: listOf(flags.symbols),
        capsules: listOf(flags.capsules),
        facts: listOf(flags.facts),
        invariants: flags.invariants,
        budget: flags.budget,
      })
      for (const warning of warnings) context.note(`warning: ${warning}`)
      if (omitted.length > 0)
        context.note(`note: ${omitted.length} references did not fit into ${flags.budget} tokens; the brief lists them`)
      const id = flags['msg-id'] ?? newMessageId(context, 'b')
      await logCost(context, planning, { role: flags.role, kind: 'delta_brief', msgId: id }, `${text}\n`, prefix)
      return { data: { task: flags.task, msg_id: id, text, omitted, open, warnings }, text }
    },
  }),
  command({
    names: briefingNames('gate to-message', 'gate to-message'),
    changes: true,
    summary: "Turn a gate's report into a gate_report message",
    about:
      'Reads gate_id, status and wave from the report. The message refers to the report by its path in the project.',
    flags: {
      report: { value: 'FILE', required: true, help: 'report.json of the gate' },
      from: { value: 'ROLE', required: true, help: 'the role that reports' },
      'msg-id': { value: 'ID', required: true, help: 'id of the message' },
      wave: { value: 'WAVE', help: "overrides the report's wave" },
      role: loggedFlags.role,
    },
    examples: {
      'heimdall gate to-message --report evals/lob/report.json --from sentinel --msg-id g1 | heimdall message validate':
        'prints {"valid":true,"errors":[]}',
    },
    output: 'the message: type (gate_report), gate_id, status (pass or fail), report_ref',
    run: async (context, { flags }) => {
      const { gateMessage } = await import('../../briefing/gate.ts')
      const planning = planningOf(context)
      const { from, wave, 'msg-id': id } = flags
      const message = gateMessage(planning, { report: context.resolve(flags.report), from, msgId: id, wave })
      const text = JSON.stringify(message)
      await logCost(context, planning, { role: flags.role, kind: message.type, msgId: id }, text)
      return { data: message, seedJson: message, text }
    },
  }),
]
