// `heimdall up` on a real project with real sessions: who waits, answered in place, live, and nothing of it in the hub alone.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  actReply,
  fleetReply,
  hubReply,
  liveEvents,
  screensReply,
  terminalFromHub,
  waitsReply,
} from '../../src/hub/contract.ts'
import { openBrowser, startHub } from '../support/hub.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { spine } from '../spine/spine.ts'
import { until } from '../support/wait.ts'

const ASKS = 'printf "one line\\n\\033[33mKeep it? [y/N]\\033[0m "; read answer; echo "got $answer"; read more'

test('an agent that asks is shown, looked at, answered in place, and leaves the list by itself', async () => {
  const project = spine()
  await project.run('heimdall', [
    'run',
    '--agent',
    'amber-otter',
    '--task',
    'AUTH-1',
    '--detach',
    '--',
    'bash',
    '-c',
    ASKS,
  ])
  const hub = await startHub(project)
  const browser = await hub.browser()

  const about = hubReply.parse(await browser.get('/api/hub'))
  expect(about).toMatchObject({ read_only: false, banners: [], projects: [{ name: 'project', root: project.root }] })

  const feed = browser.feed('?screens=7')
  expect(liveEvents.hello.parse(await feed.see('hello'))).toMatchObject({ caught_up: null, reset: false })
  const first = liveEvents.state.parse(await feed.see('state', ({ waits }) => waits.length > 0))
  const [wait] = first.waits
  expect(wait).toMatchObject({ kind: 'question', agent_id: 'amber-otter', title: expect.stringContaining('Keep it?') })
  expect(wait?.answers.map(({ answer_id: id }) => id)).toContain('type')
  const fleet = fleetReply.parse(await browser.get('/api/fleet'))
  expect(fleet.agents).toMatchObject([{ agent_id: 'amber-otter', state: 'needs_you', task: { task_id: 'AUTH-1' } }])
  expect(fleet.totals).toMatchObject({ agents: 1, waits: 1 })
  expect(waitsReply.parse(await browser.get('/api/waits')).waits).toHaveLength(1)

  // Thumbnails are text with a tone, both when they are asked for and as they change.
  const { screens } = screensReply.parse(await browser.get('/api/screens?lines=7'))
  expect(screens[0]?.lines.flat()).toContainEqual(['Keep it? [y/N]', 'yellow'])
  await feed.see('screens', ({ screens: [screen] }) => JSON.stringify(screen).includes('Keep it?'))

  // A terminal is read-only until the keyboard is taken.
  const terminal = await browser.terminal('/api/terminals/amber-otter')
  await terminal.shows('Keep it?')
  await terminal.hears('live')
  // One page looks; what draws its thumbnails and keeps the run is nobody.
  expect(await terminal.hears('keyboard')).toMatchObject({ yours: false, watching: 1 })
  terminal.type('n')
  expect(await terminal.hears('error')).toMatchObject({ code: 'SESSION_REFUSED' })

  const reply = await browser.post(`/api/waits/${wait?.wait_id}/answer`, { answer_id: 'type', text: 'yes please' })
  expect(actReply.parse(reply.json())).toMatchObject({ done: true, outcome: 'sent', by: { kind: 'human' } })
  await terminal.shows('got yes please')
  await feed.see('state', ({ waits_gone: gone }) => gone.includes(wait?.wait_id ?? ''))
  const again = await browser.post(`/api/waits/${wait?.wait_id}/answer`, { answer_id: 'type', text: 'again' })
  expect(again.json()).toMatchObject({ done: false, outcome: 'gone' })

  terminal.say({ type: 'keyboard', take: true })
  await until('the keyboard', () => terminal.messages.some((message) => message.type === 'keyboard' && message.yours))
  terminal.type('by hand\r')
  await terminal.shows('by hand')
  expect(await terminal.hears('exit')).toEqual({ type: 'exit', code: 0 })
  for (const message of terminal.messages) terminalFromHub.parse(message)
  for (const { name, data } of feed.events) liveEvents[name].parse(data)

  expect(await hub.stop()).toBe(0)
  expect(existsSync(join(project.home, '.local/state/heimdall/hub.json'))).toBe(false)
})

test('open starts the hub in the background once, and up --stop ends it', async () => {
  const project = spine()
  const at = { cwd: project.root, env: project.env }
  const state = join(project.home, '.local/state/heimdall')
  const typed = async (...words: string[]): Promise<string> => {
    const terminal = ownTerminal([...launcher('heimdall'), ...words], at)
    expect(await terminal.ended, terminal.written()).toBe(0)
    return terminal.written()
  }
  // Only a human gets a link, and nothing is started for others.
  expect(await project.run('heimdall', ['open'])).toMatchObject({ code: 4 })
  expect(existsSync(join(state, 'hub.json'))).toBe(false)

  const first = await typed('open')
  expect(first).toMatch(/runs in the background \(pid \d+, log \S+hub\.log\); heimdall up --stop stops it/)
  const [link = '', port = ''] = /http:\/\/127\.0\.0\.1:(\d+)\/#key=[\w-]+/.exec(first) ?? []
  const browser = await openBrowser(Number(port), link)
  expect(hubReply.parse(await browser.get('/api/hub'))).toMatchObject({ projects: [{ root: project.root }] })

  const second = await typed('open')
  expect(second).toContain(`http://127.0.0.1:${port}/#key=`)
  expect(second).not.toContain('in the background')
  expect(await typed('up', '--stop')).toContain(`Stopped the hub at http://127.0.0.1:${port}`)
  expect(existsSync(join(state, 'hub.json'))).toBe(false)
  await until('the hub to end', () => project.processes().length === 0)
  const again = ownTerminal([...launcher('heimdall'), 'up', '--stop'], at)
  expect([await again.ended, again.written()]).toEqual([8, expect.stringContaining('no hub is running')])
})
