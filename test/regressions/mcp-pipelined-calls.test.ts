// Calls sent without waiting overtook each other: a read could be answered before the write that was sent first.
import { expect, test } from 'vitest'
import { join } from '../mcp/session.ts'
import { temporaryProject } from '../support/project.ts'

test('calls of one client are done in the order in which they were sent', async () => {
  const project = temporaryProject()
  const session = await join(project, 'cursor')
  const rounds = 8
  const call = (id: string, name: string, args: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`
  const bytes = Array.from(
    { length: rounds },
    (_, i) =>
      call(`w${i}`, 'blackboard_set', { key: 'round', value: String(i) }) +
      call(`r${i}`, 'blackboard_get', { key: 'round' }) +
      call(`x${i}`, 'no_such_tool', {}),
  )
  session.write(bytes.join(''))
  for (let i = 0; i < rounds; i += 1)
    expect((await session.answerTo(`r${i}`)).result).toMatchObject({ structuredContent: { value: String(i) } })
  expect((await session.answerTo(`x${rounds - 1}`)).error).toMatchObject({ code: -32602 })
})
