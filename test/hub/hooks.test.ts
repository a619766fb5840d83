// A hook that the hub answers is answered as the spawned one is: what real hosts handed to their hooks, given to both, side by side.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Spine, spine } from '../spine/spine.ts'
import { recording } from '../support/hosts/recordings.ts'
import { startHub } from '../support/hub.ts'
import { type PlayedHost, playHost } from '../support/played-host.ts'

const HOSTS = ['claude', 'codex', 'gemini'] as const
type Host = (typeof HOSTS)[number]

/** A repository in which another holds one of the files that the recorded session writes. */
async function project(): Promise<Spine> {
  const one = spine()
  one.write('b.txt', 'b\n')
  one.git('add', '.')
  one.git('commit', '-qm', 'files')
  const agent = ['--agent', 'ivory-lynx']
  await one.run('heimdall', ['agent', 'add', 'ivory-lynx', '--role', 'backend'])
  const { code, stderr } = await one.run('heimdall', ['claim', 'b.txt', ...agent])
  expect([code, stderr]).toEqual([0, ''])
  return one
}

const payloads = (host: Host, { root }: Spine): string[] =>
  recording(host, 'hooks.jsonl').trimEnd().replaceAll('/work/project', root).split('\n')

/** A program of the host that asks the hub: a shell, which starts faster than Node.js. */
const ASK = String.raw`
body=$(cat)
exec 3<>"/dev/tcp/127.0.0.1/$2"
printf 'POST /hook/%s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$1" "$2" "$3" "$(printf %s "$body" | wc -c)" "$body" >&3
while IFS= read -r line <&3 && [ "$line" != $'\r' ]; do :; done
cat <&3
`

type Asks = (host: PlayedHost, name: Host, text: string) => Promise<string>

async function answers(one: Spine, name: Host, asks: Asks): Promise<string[]> {
  const host = playHost(one, { program: name, host: name })
  const said: string[] = []
  for (const text of payloads(name, one)) said.push(await asks(host, name, text))
  await host.end()
  // Folders and names differ from one project to the next, and nothing else may.
  return said.map((text) =>
    text
      .replaceAll(one.root, '<root>')
      .replaceAll(/\b(?:claude|codex|gemini)-[0-9a-f]{4}\b/g, '<agent>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'),
  )
}

test('recorded payloads of three hosts: the same answers, word for word', async () => {
  const [spawned, called] = await Promise.all([project(), project()])
  const hub = await startHub(called)
  const { secret } = JSON.parse(readFileSync(join(called.home, '.local/state/heimdall/hub.json'), 'utf8')) as {
    readonly secret: string
  }
  const script = called.write('../ask.sh', ASK)
  const bySpawn: Asks = async (host, name, text) => {
    const { stdout } = await host.run('heimdall', ['hook', name], { stdin: text })
    return stdout.trim() === '' ? '{}' : stdout.trim()
  }
  const byHub: Asks = async (host, name, text) => {
    const command = ['bash', script, name, String(hub.port), secret] as const
    return (await host.program(command, { stdin: text })).stdout.trim()
  }
  // One host after the other: what the first has claimed, the second is told of.
  const inTurn = async (one: Spine, asks: Asks): Promise<string[][]> => {
    const said: string[][] = []
    for (const name of HOSTS) said.push(await answers(one, name, asks))
    return said
  }
  const [wanted, got] = await Promise.all([inTurn(spawned, bySpawn), inTurn(called, byHub)])
  expect(got).toEqual(wanted)
  // A folder that is gone, as of a worktree that was removed under its host: words for the person from both, and no fault.
  const lost = JSON.stringify({
    session_id: 's',
    cwd: '/nowhere/x',
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: '/nowhere/x/a' },
  })
  const [saidSpawned, saidCalled] = await Promise.all([
    bySpawn(playHost(spawned), 'claude', lost),
    byHub(playHost(called), 'claude', lost),
  ])
  expect(saidCalled).toBe(saidSpawned)
  expect(saidSpawned).toContain('claims could not be checked: there is no folder')
  expect(hub.terminal.written()).not.toContain('bug:')
  // Each recorded session writes what another holds, so one of the answers says no.
  expect(wanted.map((one) => one.some((text) => /den(?:y|ied).*ivory-lynx/.test(text)))).toEqual([true, true, true])
})
