// A development build of the page, in which StrictMode renders and subscribes twice and React warns: every screen, without a warning.
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { asks } from '../support/sample-agents.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { visit } from './look.ts'

const BUILT = join(process.cwd(), '.build/dashboard-development')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

async function buildForDevelopment(): Promise<void> {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'development'
  await build({
    configFile: 'dashboard/vite.config.ts',
    mode: 'development',
    logLevel: 'error',
    build: { outDir: BUILT, emptyOutDir: true, minify: false },
  })
  process.env['NODE_ENV'] = before
}

test('no screen causes a warning of React in StrictMode', { timeout: 300_000 }, async () => {
  await buildForDevelopment()
  const fleet = parcelworks()
  await fleet.start({
    id: 'amber-otter',
    task: ['T-1', 'Rotate tokens'],
    claims: ['src/auth/**'],
    screen: 'Which?',
    does: [asks('question', 'Which?')],
  })
  const hub = await startHub(fleet, fleet.more)
  const [run = ''] = fleet.runs()
  const visitor = await visit(hub, {}, '', async (context) => {
    // Everything but the hub's API comes from this build.
    await context.route(/^http:\/\/127\.0\.0\.1:\d+\/(?!api\/)/, async (route) => {
      const { pathname } = new URL(route.request().url())
      const path = pathname === '/' ? '/index.html' : pathname
      await route.fulfill({ body: readFileSync(join(BUILT, path)), contentType: TYPES[extname(path)] ?? 'text/plain' })
    })
  })
  const { page, complaints } = visitor
  const warnings: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'warning' || message.type() === 'error') warnings.push(message.text())
  })
  // What was written while the page was loaded is in the complaints as far as it is an error: loaded again, all of it is seen.
  await page.reload()
  await page.locator('.needs-you_inbox-row').waitFor()
  // Twice mounted and twice subscribed, it still has one feed and one of each row.
  expect(await page.locator('.needs-you_inbox-row').count()).toBe(1)
  for (const [hash, seen] of [
    ['#/fleet', '.fleet_card'],
    ['#/fleet?as=table', '.table'],
    ['#/session/amber-otter', '.session_terminal-body[data-live=true]'],
    ['#/claims', '.claims_map canvas'],
    ['#/decisions', '.page-head'],
    ['#/timeline', '[role=row] a'],
    [`#/timeline/${run}`, '.timeline_run-head'],
    ['#/tasks', '.table'],
    ['#/tokens', '.pane'],
    ['#/nowhere', '.needs-you_inbox-row'],
  ] as const) {
    await visitor.go(hash)
    await page.locator(seen).first().waitFor()
  }
  await page.keyboard.press('/')
  await page.keyboard.type('otter')
  await page.locator('.search_search-row').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect({ complaints, warnings }).toEqual({ complaints: [], warnings: [] })
})
