// A server that answers with batches in batches ended the shim: it went into each, until its stack was full.
import { expect, test } from 'vitest'
import { checkBooks, ofType, startShim } from '../support/shim-client.ts'

const server = (line: string): readonly string[] => [
  process.execPath,
  '-e',
  `require("readline").createInterface(process.stdin).on("line", (line) => {
    const { id } = JSON.parse(line)
    process.stdout.write(${line} + "\\n")
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }) + "\\n")
  })`,
]

test.each([
  ['5,000 levels of nothing', '"[".repeat(5000) + "]".repeat(5000)'],
  ['400,000 levels, never closed', '"[".repeat(400000)'],
  [
    'an answer below 900 levels',
    `"[".repeat(900) + JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "]".repeat(900)`,
  ],
])('%s: the shim goes on, and each call is answered and recorded once', async (_, line) => {
  const shim = startShim({ server: server(line) })
  for (const n of [1, 2, 3]) expect((await shim.call('read', {}, n))['result']).toEqual({ content: [] })
  const { code, events } = await shim.end()
  expect(code).toBe(0)
  expect(ofType(events, 'tool_call_end').map(({ status }) => status as string)).toEqual(['OK', 'OK', 'OK'])
  expect(checkBooks(events)).toEqual([])
})
