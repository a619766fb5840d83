// Why a refusal carries its object in `_meta` and never in structuredContent: what the model of each real host is told of a tool's error that has both.
import { expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject } from '../support/project.ts'

const HINT = 'use a path below src'
const INSIDE = 'only in the object'

/** A server whose one tool says what it gives back, and refuses with something else. */
const SERVER = `
import { createInterface } from 'node:readline'
const tool = {
  name: 'note', description: 'makes a note', inputSchema: { type: 'object', properties: {} },
  outputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
}
const refusal = {
  isError: true, content: [{ type: 'text', text: ${JSON.stringify(HINT)} }],
  structuredContent: { subluminal: ${JSON.stringify(INSIDE)} },
}
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => refusal,
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }))
}
`

const TOLD: Record<HostName, { readonly has: string; readonly hasNot: readonly string[] }> = {
  claude: { has: HINT, hasNot: [] },
  // The text is dropped.
  codex: { has: INSIDE, hasNot: [HINT] },
  // The hint is lost altogether.
  gemini: { has: 'Structured content does not match the tool', hasNot: [HINT] },
}

test.each(installedHosts())('%s: what becomes of an error with structuredContent', async (name) => {
  const project = temporaryProject()
  const model = await modelServer(
    dialogue('make a note', [act({ server: 'notes', tool: 'note', input: {} }), say('it is not made')]),
  )
  const server = project.write('server.mjs', SERVER)
  const host = prepareHost(name, { project, model, servers: [{ name: 'notes', command: [process.execPath, server] }] })
  const { code, stdout, stderr } = await host.run('make a note')
  expect(code, stdout + stderr).toBe(0)
  const answer = model.exchanges[1]?.asked.turns.findLast(({ from }) => from === 'tool')?.text ?? ''
  expect(answer).toContain(TOLD[name].has)
  for (const words of TOLD[name].hasNot) expect(answer).not.toContain(words)
})
