// The recipe against force pushes, tried with spellings that git itself proves: each rewrites the history of a remote, or the case says nothing.
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

/** Each is a command line as a tool is given it, in a clone whose `main` has gone another way than the remote's. */
const FORCED = [
  'git push -f origin main',
  'git push origin main -f',
  'git push -uf origin main',
  'git push --force origin main',
  'git push --force-w origin main',
  'git push --mirr origin',
  'git push --force-with-lease origin main',
  'git push --force-if-includes --force-with-lease origin main',
  'git push origin +main',
  'git push origin +refs/heads/main:refs/heads/main',
  'git push origin +HEAD:main',
  'git push --mirror origin',
  'git push --mirror',
  'git -c push.default=current push --force',
  'git -c remote.origin.push=+refs/heads/*:refs/heads/* push origin',
  'git -c remote.origin.mirror=true push origin',
  "git -c alias.send='push -f origin main' send",
  'git -C . push -f origin main',
  "sh -c 'git push -f origin main'",
  "git push '--force' origin main",
  "git push --fo''rce origin main",
  'git push --fo\\rce origin main',
  'git push $(printf %s --force) origin main',
  'git push origin main $FLAG --force',
  'F=--force; git push $F origin main',
  'eval "$(echo Z2l0IHB1c2ggLWYgb3JpZ2luIG1haW4= | base64 -d)"',
  'git push origin :main && git push origin main',
  'git push --delete origin main; git push origin main',
  'git push origin main || git push -f origin main',
  'git push origin other\ngit push -f origin main',
  'git send-pack --force ./../remote.git main',
  'true && git   push   -f   origin   main',
] as const

/** Passes the recipe. Git refuses to rewrite anything with it. */
const PLAIN = ['git push origin main', 'git push -u origin main', 'git push origin other'] as const

const env = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
}
async function shell(cwd: string, command: string): Promise<string> {
  const { stdout } = await runProgram(['sh', '-c', command], { cwd, env })
  return stdout.trim()
}

/** A remote whose `main` is *one, theirs*, and a clone of it whose own is *one, ours*. */
async function diverged(): Promise<string> {
  const place = temporaryFolder()
  await shell(
    place,
    `git init -q --bare -b main remote.git && git -C remote.git config receive.denyDeleteCurrent ignore &&
     git clone -q remote.git clone 2>/dev/null; cd clone && git checkout -q -B main && git commit -q --allow-empty -m one &&
     git push -q origin main && git commit -q --allow-empty -m theirs && git push -q origin main &&
     git reset -q --hard HEAD~1 && git commit -q --allow-empty -m ours && git branch other HEAD~1 &&
     git remote set-url origin ../remote.git && git branch -q --set-upstream-to=origin/main main`,
  )
  return place
}

/** The last commits on the remote's branch, after the command was run there. */
async function afterwards(template: string, command: string, before = ''): Promise<string> {
  const place = temporaryFolder()
  cpSync(template, place, { recursive: true })
  await shell(join(place, 'clone'), `${before === '' ? ':' : before}\n${command}`)
  return shell(place, 'git -C remote.git log --format=%s main')
}

async function decisions(commands: readonly string[]): Promise<readonly string[]> {
  const cases = join(temporaryFolder(), 'cases.json')
  const calls = commands.map((command) => ({ server: 'sh', tool: 'run', args: { command }, expect: 'TERMINATE_RUN' }))
  writeFileSync(cases, JSON.stringify({ cases: calls.map((call, i) => ({ name: String(i), calls: [call] })) }))
  const { stdout } = await runLauncher('heimdall', [
    'policy',
    'test',
    cases,
    '--policy',
    'policies/no-force-push.yaml',
    '--json',
  ])
  const { data } = JSON.parse(stdout) as { data: { results: { failures: string[] }[] } }
  return data.results.map(({ failures }) => /action is "([A-Z_]+)"/.exec(failures[0] ?? '')?.[1] ?? '')
}

test('every spelling that rewrites the remote is refused or asked about', async () => {
  const template = await diverged()
  const found: string[] = []
  for (const command of FORCED) found.push(await afterwards(template, command))
  expect(FORCED.filter((_, i) => found[i] !== 'ours\none')).toEqual([])
  const got = await decisions(FORCED)
  expect(FORCED.filter((_, i) => got[i] !== 'REJECT_WITH_HINT')).toEqual([])
})

test('what passes rewrites nothing', async () => {
  const template = await diverged()
  for (const command of PLAIN) expect(await afterwards(template, command)).toBe('theirs\none')
  expect(await decisions(PLAIN)).toEqual(PLAIN.map(() => 'ALLOW'))
})

test('what the page says that it cannot catch: a hook that forces behind a plain push', async () => {
  const hook =
    'mkdir -p .git/hooks && printf "#!/bin/sh\\ngit push --no-verify -qf origin main\\n" > .git/hooks/pre-push'
  const rewritten = await afterwards(
    await diverged(),
    'git push origin main',
    `${hook} && chmod +x .git/hooks/pre-push`,
  )
  expect(rewritten).toBe('ours\none')
  expect(await decisions(['git push origin main'])).toEqual(['ALLOW'])
})
