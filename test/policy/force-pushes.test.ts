// The recipe against force pushes, tried with spellings that git itself proves: each rewrites the history of a remote, or the case says nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { perFile } from '../support/cleanup.ts'
import { runLauncher } from '../support/in-process.ts'
import { copyTo, runRows } from '../support/oracle-rows.ts'
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

/** A remote whose `main` is *one, theirs*, and a clone of it whose own is *one, ours*. */
const diverged = perFile(async () => {
  const place = temporaryFolder()
  const made = await runProgram(
    [
      'sh',
      '-ec',
      `git init -q --bare -b main --template= remote.git
       git -C remote.git config receive.denyDeleteCurrent ignore
       git clone -q --template= remote.git clone 2>/dev/null
       cd clone
       git checkout -q -B main
       git commit -q --allow-empty -m one
       git push -q origin main
       git commit -q --allow-empty -m theirs
       git push -q origin main
       git reset -q --hard HEAD~1
       git commit -q --allow-empty -m ours
       git branch other HEAD~1
       git remote set-url origin ../remote.git
       git branch -q --set-upstream-to=origin/main main`,
    ],
    { cwd: place, env },
  )
  expect(made).toMatchObject({ code: 0 })
  return place
})

/** The last commits on the remote's branch, after each command was run in a copy of its own. */
async function afterwards(commands: readonly string[]): Promise<string[]> {
  const folder = temporaryFolder()
  const places = commands.map((_, index) => copyTo(join(folder, String(index)), diverged()))
  const inClones = places.map((place) => join(place, 'clone'))
  await runRows(
    commands.map((command, index) => ({ command, cwd: inClones[index] ?? '' })),
    env,
  )
  await runRows(
    inClones.map((cwd) => ({ command: 'git -C ../remote.git log --format=%s main >../found', cwd })),
    env,
  )
  return places.map((place) => readFileSync(join(place, 'found'), 'utf8').trim())
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
  const found = await afterwards(FORCED)
  expect(FORCED.filter((_, i) => found[i] !== 'ours\none')).toEqual([])
  const got = await decisions(FORCED)
  expect(FORCED.filter((_, i) => got[i] !== 'REJECT_WITH_HINT')).toEqual([])
})

test('what passes rewrites nothing', async () => {
  expect(await afterwards(PLAIN)).toEqual(PLAIN.map(() => 'theirs\none'))
  expect(await decisions(PLAIN)).toEqual(PLAIN.map(() => 'ALLOW'))
})

test('what the page says that it cannot catch: a hook that forces behind a plain push', async () => {
  const hook =
    'mkdir -p .git/hooks && printf "#!/bin/sh\\ngit push --no-verify -qf origin main\\n" > .git/hooks/pre-push'
  const rewritten = await afterwards([`${hook} && chmod +x .git/hooks/pre-push\ngit push origin main`])
  expect(rewritten).toEqual(['ours\none'])
  expect(await decisions(['git push origin main'])).toEqual(['ALLOW'])
})
