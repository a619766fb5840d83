// The frugal parts over MCP: symbols, capsules, briefs and facts, by reference first and in full on request (seed 000 H-4).
import { getFact, listFacts, setFact } from '../../briefing/blackboard.ts'
import { buildBrief } from '../../briefing/brief.ts'
import { briefedText } from '../../briefing/capsule-text.ts'
import { hydrate as hydrateCapsules } from '../../briefing/capsules.ts'
import { lookUpSymbol } from '../../briefing/symbols.ts'
import { noteText } from '../../briefing/token-ledger.ts'
import { MCP_BODY_CHARS_MAX } from '../../limits.ts'
import { fence, label } from '../../fence.ts'
import { page } from '../page.ts'
import { type ToolCaller, tool } from '../tool.ts'

export const resolve = tool({
  name: 'resolve',
  about: 'Value of a symbol id, such as a file path or a criterion.',
  readOnly: true,
  args: { id: 'text' },
  required: ['id'],
  run(caller, { id }) {
    const value = lookUpSymbol(caller.desk.planning, id)
    return { data: { haid: caller.haid, id, value: shown(caller, value, `symbol ${id}`) } }
  },
})

export const hydrate = tool({
  name: 'hydrate',
  about: 'Capsules with everything they depend on, dependencies first. Pages: cursor, max_tokens.',
  readOnly: true,
  args: { ids: 'texts', cursor: 'text', max_tokens: 'count' },
  required: ['ids'],
  async run(caller, { ids, cursor, max_tokens }) {
    const { planning, randomBytes } = caller.desk
    const closure = hydrateCapsules(planning, ids).map((capsule) => ({ id: capsule.id, text: briefedText(capsule) }))
    const { items, next } = page(closure, { cursor, maxTokens: max_tokens, keyOf: ({ id }) => id })
    const bodies = items.map(({ text }) => text).join('\n')
    const text = fence(bodies, { from: 'capsules', charsMax: bodies.length, randomBytes })
    await logCost(caller, 'hydration', text)
    return { data: { haid: caller.haid, ids: items.map(({ id }) => id), ...next, text } }
  },
})

export const brief = tool({
  name: 'brief',
  about: 'Brief for a task from named symbols, capsules and facts (ids: a,b). budget caps tokens.',
  args: {
    task: 'text',
    spec: 'text',
    symbols: 'text',
    capsules: 'text',
    facts: 'text',
    invariants: 'text',
    budget: 'count',
  },
  required: ['task', 'spec'],
  async run(caller, input) {
    const built = buildBrief(caller.desk.planning, {
      task: input.task,
      spec: input.spec,
      symbols: idsOf(input.symbols),
      capsules: idsOf(input.capsules),
      facts: idsOf(input.facts),
      invariants: input.invariants,
      budget: input.budget,
    })
    await logCost(caller, 'delta_brief', built.text, built.prefix)
    return {
      data: {
        haid: caller.haid,
        ...(built.omitted.length === 0 ? {} : { omitted: built.omitted }),
        ...(built.open.length === 0 ? {} : { open: built.open }),
        ...(built.warnings.length === 0 ? {} : { warnings: built.warnings }),
        text: built.text,
      },
    }
  },
})

/** Logs what the agent was given, for the role of its run or its own. */
async function logCost({ desk, haid }: ToolCaller, kind: string, text: string, prefix?: string): Promise<void> {
  const { HEIMDALL_ROLE: ofRun = '', SUB_RUN_ID: run = '' } = desk.env
  const room = await desk.room()
  const role = ofRun === '' ? room.store.read((rows) => rows.agent(haid)?.role) : ofRun
  // An agent that could not be registered has none.
  if (role !== undefined)
    await noteText(desk.planning, { role, kind, ...(run === '' ? {} : { runId: run }) }, text, prefix)
}

/** `a,b` as `heimdall-brief` takes it: a list would cost twice the tokens in the schema. */
function idsOf(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '')
}

export const blackboardGet = tool({
  name: 'blackboard_get',
  about: 'A shared fact by key, with who set it and when; without key, the keys.',
  readOnly: true,
  args: { key: 'text', cursor: 'text', max_tokens: 'count' },
  run(caller, { key, cursor, max_tokens }) {
    const { desk, haid } = caller
    if (key !== undefined) {
      const fact = getFact(desk.planning, key)
      const by = fact.by ?? 'unknown'
      return { data: { haid, key, by: label(by), ts: fact.ts ?? null, value: shown(caller, fact.value, by) } }
    }
    const facts = listFacts(desk.planning).map(({ key, by, ts }) => ({
      key,
      by: label(by ?? 'unknown'),
      ts: ts ?? null,
    }))
    const { items, next } = page(facts, { cursor, maxTokens: max_tokens, keyOf: (fact) => fact.key })
    return { data: { haid, count: facts.length, ...next, facts: items } }
  },
})

export const blackboardSet = tool({
  name: 'blackboard_set',
  about: 'Set a shared fact that other agents can rely on, such as a port or a version.',
  args: { key: 'text', value: 'text' },
  required: ['key', 'value'],
  async run({ desk, haid }, { key, value }) {
    await setFact(desk.planning, key, value, haid)
    return { data: { haid, key, set: true } }
  },
})

/** A short line stands for itself; anything longer is fenced. */
function shown({ desk }: ToolCaller, value: string, from: string): string {
  const line = label(value)
  return line === value
    ? value
    : fence(value, { from, charsMax: MCP_BODY_CHARS_MAX, more: 'read it in a shell', randomBytes: desk.randomBytes })
}
