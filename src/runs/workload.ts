// What surrounds a run, as far as the environment and a few files tell: repository, CI job, Kubernetes pod (seed 004 §1.3.1).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../errors.ts'
import type { Workload } from '../events/types.ts'
import { type Env, findProject } from '../paths.ts'
import { isObject } from '../plain-object.ts'

interface Ci {
  readonly provider: string
  /** Set where this provider runs the job. */
  readonly sign: string
  readonly job: readonly string[]
  readonly repo: readonly string[]
  readonly branch: readonly string[]
}

const CI_PROVIDERS: readonly Ci[] = [
  {
    provider: 'github',
    sign: 'GITHUB_ACTIONS',
    job: ['GITHUB_RUN_ID'],
    repo: ['GITHUB_REPOSITORY'],
    branch: ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'],
  },
  {
    provider: 'gitlab',
    sign: 'GITLAB_CI',
    job: ['CI_JOB_ID'],
    repo: ['CI_PROJECT_PATH'],
    branch: ['CI_COMMIT_REF_NAME'],
  },
  {
    provider: 'buildkite',
    sign: 'BUILDKITE',
    job: ['BUILDKITE_JOB_ID'],
    repo: ['BUILDKITE_REPO'],
    branch: ['BUILDKITE_BRANCH'],
  },
  {
    provider: 'circleci',
    sign: 'CIRCLECI',
    job: ['CIRCLE_WORKFLOW_JOB_ID', 'CIRCLE_BUILD_NUM'],
    repo: ['CIRCLE_PROJECT_REPONAME'],
    branch: ['CIRCLE_BRANCH'],
  },
  {
    provider: 'jenkins',
    sign: 'JENKINS_URL',
    job: ['BUILD_TAG', 'BUILD_ID'],
    repo: ['GIT_URL'],
    branch: ['BRANCH_NAME', 'GIT_BRANCH'],
  },
  {
    provider: 'azure',
    sign: 'TF_BUILD',
    job: ['SYSTEM_JOBID', 'BUILD_BUILDID'],
    repo: ['BUILD_REPOSITORY_NAME'],
    branch: ['BUILD_SOURCEBRANCHNAME'],
  },
]

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const LABELS_FILE = '/etc/podinfo/labels'

/** `SUB_WORKLOAD` where it is an object with members; else what can be found. Nothing found is nothing said. */
export function findWorkload(env: Env, cwd: string): Workload | undefined {
  const given = givenWorkload(env['SUB_WORKLOAD'])
  if (given !== undefined) return given
  const found = { ...ofDesktop(env, cwd), ...ofCi(env), ...ofKubernetes(env) }
  return Object.keys(found).length === 0 ? undefined : found
}

function givenWorkload(text: string | undefined): Workload | undefined {
  const value = parsed(text)
  return isObject(value) && Object.keys(value).length > 0 ? value : undefined
}

/** What is wrong with `SUB_WORKLOAD`; undefined where nothing is. */
export function workloadProblem(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || isObject(parsed(text))) return undefined
  return 'SUB_WORKLOAD is not a JSON object'
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function ofDesktop(env: Env, cwd: string): Workload {
  const { root, gitCommonDir } = findProject(cwd, env)
  const user = first(env, ['USER', 'LOGNAME'])
  const branch = gitCommonDir === undefined ? undefined : branchOf(root, gitCommonDir)
  return {
    ...(user === undefined ? {} : { user }),
    ...(gitCommonDir === undefined ? {} : { repo_path: root }),
    ...(branch === undefined ? {} : { branch }),
  }
}

function branchOf(root: string, gitCommonDir: string): string | undefined {
  // A linked worktree has a file `.git` that names its own folder; HEAD is there, not in the shared one.
  const link = textOf(join(root, '.git'))?.match(/^gitdir: (.+)$/m)?.[1]
  const head = textOf(join(link ?? gitCommonDir, 'HEAD'))
  return head?.match(/^ref: refs\/heads\/(.+)$/m)?.[1]
}

function ofCi(env: Env): Workload {
  const ci = CI_PROVIDERS.find(({ sign }) => env[sign] !== undefined && env[sign] !== '')
  if (ci === undefined) return env['CI'] === undefined || env['CI'] === '' ? {} : { ci_provider: 'unknown' }
  const job = first(env, ci.job)
  const repo = first(env, ci.repo)
  const branch = first(env, ci.branch)
  return {
    ci_provider: ci.provider,
    ...(job === undefined ? {} : { job_id: job }),
    ...(repo === undefined ? {} : { repo }),
    ...(branch === undefined ? {} : { branch }),
  }
}

function ofKubernetes(env: Env): Workload {
  if (env['KUBERNETES_SERVICE_HOST'] === undefined) return {}
  const namespace = first(env, ['POD_NAMESPACE']) ?? textOf(join(SERVICE_ACCOUNT, 'namespace'))?.trim()
  const account = first(env, ['POD_SERVICE_ACCOUNT', 'SERVICE_ACCOUNT'])
  const pod = first(env, ['POD_NAME', 'HOSTNAME'])
  const labels = labelsOf(textOf(LABELS_FILE))
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(account === undefined ? {} : { service_account: account }),
    ...(pod === undefined ? {} : { pod }),
    ...(labels === undefined ? {} : { labels }),
  }
}

/** The downward API writes one `key="value"` a line. */
function labelsOf(text: string | undefined): Record<string, string> | undefined {
  const pairs = [...(text ?? '').matchAll(/^([^=\n]+)="(.*)"$/gm)].map(
    ([, key = '', value = '']) => [key, value] as const,
  )
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

function first(env: Env, names: readonly string[]): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
}
