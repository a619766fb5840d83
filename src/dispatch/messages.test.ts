import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readInline, writeInline } from './inline.ts'
import {
  HEALTH,
  parseAnnounce,
  parseDispatch,
  parseResult,
  PRIORITIES,
  REPLY_SCHEMAS,
  RESULT_STATUSES,
} from './messages.ts'

/** Seed 003, message 1, as it stands there. */
const ANNOUNCE = {
  type: 'SESSION_ANNOUNCE',
  protocol_version: '2.0',
  worker: {
    agent_id: 'claude-code',
    model: 'claude-sonnet-4-20250514',
    model_tier: 'sonnet',
    context_window: 200000,
  },
  capabilities: {
    tools: ['browser', 'terminal', 'file', 'patch'],
    mcp_servers: ['context_mode', 'claude_mem', 'trek'],
  },
  mcp_health: { context_mode: 'ok', claude_mem: 'ok', trek: 'timeout' },
  session: {
    context_id: 'handshake:hermes-switch',
    active_tasks: 2,
    repo_state: { branch: 'main', clean: true },
    session_fresh: true,
  },
}

/** Seed 003, message 2. */
const DISPATCH = {
  type: 'TASK_DISPATCH',
  protocol_version: '2.0',
  task: { task_id: 'abc-123', priority: 'high', reply_schema: 'structured', token_budget: 4000 },
  requirements: { required_mcp: ['context_mode'], required_capabilities: ['terminal', 'file'] },
  deadline: '2026-05-31T21:00:00Z',
  brief: 'Refactor the auth module. Focus on token refresh logic...',
}

/** Seed 003, message 3. */
const RESULT = {
  type: 'TASK_RESULT',
  protocol_version: '2.0',
  task_id: 'abc-123',
  status: 'done',
  tokens_spent: 3240,
  next_steps: ['Run the full test suite to verify refactor', 'Open PR for review'],
  blocked_reason: null,
  artifacts: {
    pr: 'https://example.com/pull/72',
    files_changed: ['src/auth/token_refresh.py', 'tests/auth/test_token_refresh.py'],
  },
}

describe('seed 003: the three messages', () => {
  test.each([
    [parseAnnounce, ANNOUNCE],
    [parseDispatch, DISPATCH],
    [parseResult, RESULT],
  ])('a message of the seed is read with every field as it stands there', (parse, message) => {
    expect(parse(message)).toMatchObject(message)
  })

  test('fields that nobody knows are passed over, at every level', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().map((key) => `x_${key}`),
          fc.jsonValue(),
        ),
        (more) => {
          expect(parseAnnounce({ ...ANNOUNCE, ...more, worker: { ...ANNOUNCE.worker, ...more } })).toEqual(
            parseAnnounce(ANNOUNCE),
          )
          expect(parseDispatch({ ...DISPATCH, ...more, task: { ...DISPATCH.task, ...more } })).toEqual(
            parseDispatch(DISPATCH),
          )
          expect(parseResult({ ...RESULT, ...more })).toEqual(parseResult(RESULT))
        },
      ),
    )
  })

  test('words that nobody knows take the safe default: priority normal, reply prose, health unknown, status error', () => {
    const known = new Set<string>([...PRIORITIES, ...REPLY_SCHEMAS, ...HEALTH, ...RESULT_STATUSES])
    fc.assert(
      fc.property(
        fc.string().filter((word) => !known.has(word)),
        (word) => {
          const { task } = parseDispatch({
            ...DISPATCH,
            task: { ...DISPATCH.task, priority: word, reply_schema: word },
          })
          expect([task.priority, task.reply_schema]).toEqual(['normal', 'prose'])
          expect(parseAnnounce({ ...ANNOUNCE, mcp_health: { trek: word } }).mcp_health).toEqual({ trek: 'unknown' })
          expect(parseResult({ ...RESULT, status: word, error: { summary: 'x' } }).status).toBe('error')
          if (!['ready', 'busy', 'haiku', 'sonnet'].includes(word)) {
            expect(parseAnnounce({ ...ANNOUNCE, state: word }).state).toBe('draining')
            const { requirements } = parseDispatch({ ...DISPATCH, requirements: { min_model_tier: word } })
            expect(requirements.min_model_tier).toBe('opus')
          }
        },
      ),
    )
  })

  test('what is read and written again is read as the same', () => {
    for (const [parse, message] of [
      [parseAnnounce, ANNOUNCE],
      [parseDispatch, DISPATCH],
      [parseResult, RESULT],
    ] as const) {
      const once = parse(message)
      expect(parse(JSON.parse(JSON.stringify(once)))).toEqual(once)
    }
  })

  test.each([
    ['blocked', {}, /blocked_reason/],
    ['blocked', { blocked_reason: '  ' }, /blocked_reason/],
    ['error', {}, /error\.summary/],
    ['partial', {}, /remaining/],
  ])('a result that is %s without what the seed requires of it is none', (status, fields, why) => {
    expect(() => parseResult({ ...RESULT, status, ...fields })).toThrow(why)
  })

  test.each([
    [{ ...DISPATCH, type: 'TASK_DISPATCHED' }],
    [{ ...DISPATCH, protocol_version: '3.0' }],
    [{ ...DISPATCH, deadline: '2026-05-31T21:00:00' }],
    [{ ...DISPATCH, deadline: 'tomorrow' }],
    [{ ...DISPATCH, task: { ...DISPATCH.task, token_budget: -1 } }],
    [{ ...DISPATCH, task: { ...DISPATCH.task, task_id: '' } }],
    [{ ...DISPATCH, brief: '' }],
    [{ ...DISPATCH, brief: 'x'.repeat(5_000_000) }],
    [null],
    [[DISPATCH]],
  ])('a contract that breaks a rule is refused: %#', (message) => {
    expect(() => parseDispatch(message)).toThrow(expect.objectContaining({ code: 'DISPATCH_INVALID' }))
  })

  test('a later minor version is read', () => {
    expect(parseDispatch({ ...DISPATCH, protocol_version: '2.7' }).task.task_id).toBe('abc-123')
  })
})

describe('seed 003, phase 1: hints in front of the brief', () => {
  test('the form of the seed is read', async () => {
    const text =
      'TASK DISPATCH (inline)\npriority: high\nreply_schema: structured\ntoken_budget: 4000\nrequired_mcp: [context_mode]\nBrief: Refactor the auth module...'
    expect(await readInline(text, 'm-1')).toMatchObject({
      task: { task_id: 'm-1', priority: 'high', reply_schema: 'structured', token_budget: 4000 },
      requirements: { required_mcp: ['context_mode'] },
      brief: 'Refactor the auth module...',
    })
  })

  test('what is written is read back, whatever the names and the brief are', async () => {
    const name = fc.string({ minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== '')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PRIORITIES),
        fc.constantFrom(...REPLY_SCHEMAS),
        fc.option(fc.nat()),
        fc.array(name, { maxLength: 4 }),
        fc.string({ minLength: 1 }),
        async (priority, reply_schema, token_budget, required_mcp, brief) => {
          const contract = parseDispatch({
            ...DISPATCH,
            task: { task_id: 'T-1', priority, reply_schema, token_budget },
            requirements: { required_mcp },
            brief,
          })
          const back = await readInline(writeInline(contract), 'other')
          expect(back).toMatchObject({ task: contract.task, deadline: contract.deadline, brief })
          expect(back.requirements.required_mcp).toEqual(required_mcp)
        },
      ),
    )
  })

  test('text without the header, or with hints that are no YAML, is a brief and nothing else', async () => {
    for (const text of [
      'just do it',
      'TASK DISPATCH (inline)\nno brief here',
      'TASK DISPATCH (inline)\n[: {\nBrief: x',
    ])
      expect(await readInline(text, 'm-2')).toMatchObject({ task: { task_id: 'm-2', priority: 'normal' }, brief: text })
  })
})
