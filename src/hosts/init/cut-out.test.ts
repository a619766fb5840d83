// Ours out of a file that others have written anew in whatever form: nothing else goes, and what is left can be read.
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { readJson } from './json-insert.ts'
import { withoutOurs } from './cut-out.ts'

const OURS = { hooks: [{ type: 'command', command: '/usr/bin/node /opt/bin/heimdall hook codex' }] }
const LEDGER = { command: '/usr/bin/node', args: ['/opt/bin/heimdall-ledger-mcp'] }

test('an element at the end of a list on one line', () => {
  const text = `{"hooks": {"Stop": [{"command": "theirs"}, ${JSON.stringify(OURS)}], "Start": [ ${JSON.stringify(OURS)} ]}}`
  expect(withoutOurs(text, 'hooks.json')).toBe('{"hooks": {"Stop": [{"command": "theirs"}]}}')
})

test('a TOML server of the user under our name stays, with all that belongs to it', () => {
  const theirs =
    '[mcp_servers.heimdall-ledger]\ncommand = "their-program"\n\n[mcp_servers.heimdall-ledger.env]\nA = "1"\n'
  expect(withoutOurs(theirs, 'config.toml')).toBe(theirs)
  const ours = '[mcp_servers.heimdall-ledger]\ncommand = "node"\nargs = ["/opt/bin/heimdall-ledger-mcp"]\n'
  expect(withoutOurs(`model = "x"\n\n${ours}`, 'config.toml')).toBe('model = "x"\n')
})

test('comments, blank lines and commas of others stay as they are', () => {
  const ours = JSON.stringify(OURS, null, 2).replaceAll('\n', '\r\n')
  const text = `{\r\n  // first\r\n  "hooks": {\r\n    "Stop": [\r\n      "theirs", // why\r\n      ${ours},\r\n    ],\r\n    "Start": [${ours}] // last\r\n  },\r\n}\r\n`
  expect(withoutOurs(text, 'settings.json')).toBe(
    '{\r\n  // first\r\n  "hooks": {\r\n    "Stop": [\r\n      "theirs", // why\r\n    ]\r\n // last\r\n  },\r\n}\r\n',
  )
})

const written = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n'),
  // As Python writes it.
  (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, ' '),
  (value) => JSON.stringify(value, null, 2).replaceAll(/(?<=[}\]"])\n/g, ', // x\n'),
  (value) => JSON.stringify(value, null, 2).replaceAll(',\n', ' /* , */,\n\n'),
)

test('whatever form it was written in', () => {
  const theirs = fc.constantFrom({ command: 'theirs' }, { matcher: 'Bash', hooks: [{ command: 'theirs' }] })
  const group = fc.record({ entry: fc.oneof(fc.constant(OURS), theirs) }).map(({ entry }) => entry)
  const hooks = fc.dictionary(fc.constantFrom('Stop', 'Start', 'End'), fc.array(group, { maxLength: 4 }))
  const servers = fc.dictionary(fc.constantFrom('heimdall-ledger', 'a', 'b'), fc.constant(LEDGER))
  fc.assert(
    fc.property(hooks, servers, fc.boolean(), written, (events, mcpServers, isFirst, write) => {
      const rest = { theme: 'dark', mcpServers }
      const text = write(isFirst ? { hooks: events, ...rest } : { ...rest, hooks: events })
      fc.pre('root' in readJson(text))
      const after = withoutOurs(text, 'settings.json')
      expect([readJson(after), after]).toEqual([expect.objectContaining({ text: after }), after])
      const left = parse(after, [], { allowTrailingComma: true }) as { hooks?: Record<string, unknown[]> }
      const kept = Object.entries(events)
        .map(([event, list]) => [event, list.filter((one) => one !== OURS)] as const)
        .filter(([event, list]) => list.length > 0 || events[event]?.length === 0)
      expect(left.hooks ?? {}).toEqual(Object.fromEntries(kept))
      expect(left).toMatchObject({
        theme: 'dark',
        mcpServers: Object.fromEntries(
          Object.keys(mcpServers).flatMap((name) => (name === 'heimdall-ledger' ? [] : [[name, LEDGER]])),
        ),
      })
    }),
  )
})
