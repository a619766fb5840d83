// Payloads of hosts to what they mean, and verdicts to the exact form that each host honours.
import { describe, expect, test } from 'vitest'
import { blindOutput, hookOutput, type HookVerdict } from './hook-answer.ts'
import { type HookCall, readHook } from './hook-call.ts'
import type { HookHost } from './hook-table.ts'

const deny: HookVerdict = { kind: 'deny', reason: 'held by amber-otter' }

function callOf(host: HookHost, payload: object): HookCall {
  const read = readHook(host, JSON.stringify(payload))
  if (!('call' in read)) throw new Error(JSON.stringify(read))
  return read.call
}

const answer = (host: HookHost, payload: object, verdict: HookVerdict): unknown => {
  const { stdout } = hookOutput(callOf(host, payload), verdict)
  return stdout === '' ? '' : JSON.parse(stdout)
}

const before = { claude: 'PreToolUse', codex: 'PreToolUse', gemini: 'BeforeTool', cursor: 'preToolUse' } as const

describe('the form of an answer', () => {
  test('a refusal, host by host', () => {
    const claude = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'held by amber-otter',
      },
    }
    expect(answer('claude', { hook_event_name: before.claude }, deny)).toEqual(claude)
    expect(answer('codex', { hook_event_name: before.codex }, deny)).toEqual(claude)
    expect(answer('gemini', { hook_event_name: before.gemini }, deny)).toEqual({
      decision: 'deny',
      reason: 'held by amber-otter',
    })
    expect(answer('cursor', { hook_event_name: before.cursor }, deny)).toEqual({
      permission: 'deny',
      user_message: 'held by amber-otter',
      agent_message: 'held by amber-otter',
    })
  })

  test('a brief, host by host', () => {
    const verdict: HookVerdict = { kind: 'pass', context: 'You are x' }
    const specific = { hookEventName: 'SessionStart', additionalContext: 'You are x' }
    expect(answer('claude', { hook_event_name: 'SessionStart' }, verdict)).toEqual({ hookSpecificOutput: specific })
    expect(answer('codex', { hook_event_name: 'SessionStart' }, verdict)).toEqual({ hookSpecificOutput: specific })
    expect(answer('gemini', { hook_event_name: 'SessionStart' }, verdict)).toEqual({
      hookSpecificOutput: { additionalContext: 'You are x' },
    })
    expect(answer('cursor', { hook_event_name: 'sessionStart' }, verdict)).toEqual({ additional_context: 'You are x' })
  })

  test('nothing to say is said with nothing, but for Cursor, which waits for a word', () => {
    for (const host of ['claude', 'codex', 'gemini'] as const)
      expect(hookOutput(callOf(host, { hook_event_name: before[host] }), { kind: 'pass' })).toEqual({
        stdout: '',
        stderr: '',
        exit: 0,
      })
    expect(answer('cursor', { hook_event_name: 'preToolUse' }, { kind: 'pass' })).toEqual({ permission: 'allow' })
  })

  test('what is no payload is let through with words, or refused with words where the hook is strict', () => {
    expect(blindOutput('codex', 'not JSON', false)).toEqual({
      stdout: '{"systemMessage":"heimdall: not JSON; nothing was checked"}',
      stderr: 'heimdall: not JSON',
      exit: 0,
    })
    expect(blindOutput('claude', 'not JSON', true)).toMatchObject({ exit: 2, stderr: 'heimdall: not JSON' })
  })
})

describe('what a payload means', () => {
  test.each(['', 'null', '[]', '{}', '{"hook_event_name":7}', '{"hook_event_name"'])('%s is none', (text) => {
    expect(readHook('claude', text)).toHaveProperty('problem')
  })

  test('an event that no hook of ours is for is passed over', () => {
    expect(readHook('claude', '{"hook_event_name":"SomethingNew"}')).toEqual({ unknown: 'SomethingNew' })
    const idle = { hook_event_name: 'Notification', notification_type: 'idle_prompt', message: 'waiting' }
    expect(readHook('claude', JSON.stringify(idle))).toEqual({ unknown: 'Notification' })
  })

  test('a tool that writes and does not say where is not taken for one that writes nothing', () => {
    const { tool } = callOf('claude', { hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: { file: 'a' } })
    expect(tool).toMatchObject({ isUnread: true, targets: [] })
  })

  test('tools of servers are the shim’s to judge', () => {
    const { tool } = callOf('codex', {
      hook_event_name: 'PreToolUse',
      tool_name: 'mcp__fs__write_file',
      tool_input: { path: 'a' },
    })
    expect(tool).toMatchObject({ isMcp: true, targets: [], isUnread: false })
  })

  test('a question is told by what wants leave', () => {
    const asked = callOf('claude', {
      hook_event_name: 'PermissionRequest',
      tool_name: 'Bash',
      tool_input: { command: 'rm x' },
    })
    expect(asked).toMatchObject({ event: 'asks-person', question: 'permission for Bash: rm x' })
  })
})
