// The pictures of the README, from a demo that is really played: the page in both themes, and its terminal as an SVG that tells it line by line.
//
//   npm run build && node scripts/pictures.mjs
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { bundlePrograms } from './programs.mjs'

const INTO = 'docs/images'
const SIZE = { width: 1280, height: 760 }

await bundlePrograms('test/fixtures', '.build/fixtures')
const browserOf = await rolldown({
  input: 'test/support/browser.ts',
  platform: 'node',
  external: /^(node:|playwright-core)/,
})
await browserOf.write({ file: '.build/pictures/browser.mjs', format: 'esm' })
const { startBrowser } = await import(resolve('.build/pictures/browser.mjs'))
mkdirSync(INTO, { recursive: true })

const home = mkdtempSync(join(tmpdir(), 'hm-'))
const demo = terminal([process.execPath, resolve('bin/heimdall'), 'demo', '--stay'])
const browser = await startBrowser()
try {
  const link = await demo.until(/http:\/\/\S+#key=[\w-]+/)
  const looks = { viewport: SIZE, reducedMotion: 'reduce', locale: 'en-GB' }
  const dark = await browser.newContext({ ...looks, colorScheme: 'dark' })
  const first = await dark.newPage()
  await first.goto(link)
  await first.waitForSelector('.shell_foot .shell_live-dot:not(.shell_off)')
  // A link is for one visit.
  const another = terminal([process.execPath, resolve('bin/heimdall'), 'open'])
  const light = await browser.newContext({ ...looks, colorScheme: 'light' })
  const second = await light.newPage()
  await second.goto(await another.until(/http:\/\/\S+#key=[\w-]+/))
  const pages = { dark: first, light: second }
  await demo.until(/runs into amber-otter/)
  await both(pages, '#/fleet', 'fleet')
  await demo.until(/The dashboard stays at/)
  writeFileSync(join(INTO, 'demo.svg'), svg(demo.lines()))
} finally {
  await browser.close()
  demo.type('\u0003')
  await demo.ended
  rmSync(home, { recursive: true, force: true })
}

async function both(pages, hash, name) {
  await Promise.all(
    Object.entries(pages).map(async ([theme, page]) => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      // Screens of sessions come in by the feed; decisions are there at once.
      if (name === 'fleet') {
        // What the README says of it: a question, a budget, a collision, and one that has failed.
        const cards = ['plum-vole, Needs you', 'rusty-wren, Needs you', 'teal-badger, Collision', 'grey-heron, Failed']
        for (const card of cards) await page.locator(`[aria-label^="${card}"]`).waitFor({ timeout: 30_000 })
        await page
          .getByText(/claim wait/)
          .first()
          .waitFor({ timeout: 20_000 })
      } else await page.waitForTimeout(2_000)
      await page.screenshot({ path: join(INTO, `${name}-${theme}.png`) })
    }),
  )
}

/** A terminal below init, as a person's: only there the hub hands out its link. */
function terminal(command) {
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', TERM: 'xterm-256color', HOME: home }
  const own = [process.execPath, resolve('.build/fixtures/own-terminal.mjs')]
  const start = JSON.stringify({ command, cwd: home, env })
  const child = spawn('/bin/sh', ['-c', '"$@" <&4 &', 'sh', ...own, start], {
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
    detached: true,
  })
  const [, output, , , keyboard] = child.stdio
  const begun = performance.now()
  const pieces = []
  const waiting = new Set()
  output.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    pieces.push({ at: performance.now() - begun, text })
    for (const look of waiting) look()
  })
  const written = () => pieces.map(({ text }) => text).join('')
  return {
    ended: new Promise((done) => child.once('close', done)),
    type: (text) => keyboard.write(text),
    until: (pattern) =>
      new Promise((done) => {
        const look = () => {
          const found = pattern.exec(written())
          if (found === null) return
          waiting.delete(look)
          done(found[0])
        }
        waiting.add(look)
        look()
      }),
    lines() {
      const lines = []
      let line = ''
      for (const { at, text } of pieces)
        for (const character of text.replaceAll('\r', '')) {
          if (character !== '\n') line += character
          else {
            lines.push({ at, text: line })
            line = ''
          }
        }
      return lines
    },
  }
}

/** Three times as fast as it was; names of this machine and the key of the link are left out. */
function svg(lines) {
  const shown = lines
    .map(({ at, text }) => ({
      at,
      text: plain(text)
        .replaceAll(home, '~')
        .replace(/#key=\S+/, '#key=…'),
    }))
    .filter(({ text }) => !/^To look|^ {2}heimdall|page stays|^In another/.test(text))
  const [width, row] = [960, 17]
  const height = shown.length * row + 28
  const rows = shown.map(({ at, text }, i) => {
    const isLoud = / refused | runs into | needs you| takes over /.test(text)
    const delay = (at / 3_000).toFixed(2)
    return `<text x="14" y="${i * row + 26}" style="animation-delay:${delay}s"${isLoud ? ' class="loud"' : ''}>${escaped(text)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="heimdall demo in a terminal">
<style>rect{fill:#14171c}text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d5dae1;white-space:pre;opacity:0;animation:come 0s forwards}.loud{fill:#e8b04b}@keyframes come{to{opacity:1}}@media(prefers-reduced-motion:reduce){text{animation-delay:0s!important}}</style>
<rect width="100%" height="100%" rx="6"/>
${rows.join('\n')}
</svg>
`
}

function plain(text) {
  // oxlint-disable-next-line no-control-regex -- colours of the terminal
  return text.replaceAll(/\u001B\[[0-9;]*m/g, '').slice(0, 118)
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
