// The browser of the tests: Chromium from the registry, unpacked once per version, so that `npm ci` is all it takes.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { isErrno } from '../../src/errors.ts'

// Tests and benches run in the folder of the project.
const PROJECT = process.cwd()
const packageFolder = (name: string): string => join(PROJECT, 'node_modules', name)

/** Chooses another Chromium, such as that of the system. */
const CHOSEN = 'HEIMDALL_TEST_BROWSER'

// What the package would pass runs everything in one process and switches web security off, which is what is tested.
const ARGUMENTS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--font-render-hinting=none',
  // An emulated graphics card takes more of the processor than all the rest of a test. The page's terminal draws without.
  '--disable-gpu',
  '--disable-software-rasterizer',
]

/** Starts the browser. One that is missing or does not start is a failure. */
export async function startBrowser(): Promise<Browser> {
  const chosen = process.env[CHOSEN]
  const unpacked = chosen === undefined ? await unpack() : undefined
  return chromium.launch({
    executablePath: chosen ?? join(unpacked ?? '', 'chromium'),
    args: ARGUMENTS,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      HOME: process.env['HOME'] ?? '/',
      FONTCONFIG_FILE: fontConfiguration(),
      ...(unpacked !== undefined && { LD_LIBRARY_PATH: join(unpacked, 'al2023/lib') }),
    },
  })
}

/**
 * The package unpacks into TMPDIR, takes whatever lies there already, and two that unpack at once disturb each other:
 * so each unpacks into a folder of its own, and the first to be done gives it the name of the version.
 */
async function unpack(): Promise<string> {
  const folder = packageFolder('@sparticuz/chromium')
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const final = join(PROJECT, '.build/browser', version)
  if (existsSync(final)) return final
  const own = `${final}.${process.pid}`
  mkdirSync(own, { recursive: true })
  const program = "import('@sparticuz/chromium').then(({ default: c }) => c.executablePath())"
  // The libraries that a bare Debian lacks are unpacked for those who seem to be on Amazon's system.
  const env = { PATH: process.env['PATH'], TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' }
  await promisify(execFile)(process.execPath, ['-e', program], { cwd: PROJECT, env })
  try {
    renameSync(own, final)
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
    rmSync(own, { recursive: true })
  }
  return final
}

/** Letters for terminals: the browser brings one font, and a bare machine has none. */
function fontConfiguration(): string {
  const path = join(PROJECT, '.build/browser/fonts.conf')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(packageFolder('dejavu-fonts-ttf'), 'ttf')}</dir><cachedir>${join(PROJECT, '.build/browser/fonts')}</cachedir></fontconfig>
`,
  )
  return path
}
