// Questions to humans over all runs: what is asked, and the answers that commands and the hub give.
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../boot-id.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { EventText } from '../events/event-text.ts'
import { createRedact } from '../events/redact.ts'
import { RUN_JOIN_MS, SOLO_KEPT_MS } from '../limits.ts'
import { namesIn } from '../storage/folder-names.ts'
import { isOpen, type Lasts, lastsText, type PersonAnswer, type Request } from './approvals.ts'
import { mayHaveQuestions, readFold } from './read-fold.ts'
import { identityIn } from './run-facts.ts'
import { recordPath, RunLog } from './run-log.ts'
import { lookAtMembers } from './run-members.ts'

/** A shim alone, which has no folder of a run, records its questions here, in a folder of its own, until it ends. */
export const soloDir = (runsDir: string): string => join(runsDir, '.solo')

export interface AskedIn {
  readonly folder: string
  readonly request: Request
}

/** The questions of all runs. What a killed shim alone has left is not asked any more. */
export function requestsIn(runsDir: string): AskedIn[] {
  const ofRuns = namesIn(runsDir)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(runsDir, name))
    // Never through a link.
    .filter((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true)
  return [...ofRuns, ...soloFolders(runsDir).filter(isInUse)]
    .filter((folder) => existsSync(recordPath(folder)) && mayHaveQuestions(folder))
    .flatMap((folder) => readRequests(folder).map((request) => ({ folder, request })))
}

/** As commands list them, oldest first. */
export function readRequests(folder: string): readonly Request[] {
  return readFold(folder)
    .approvals.questions.map((one) => ({ ...one, times: Math.max(1, one.times) }))
    .toSorted((a, b) => a.asked_at.localeCompare(b.asked_at) || a.id.localeCompare(b.id))
}

export function openRequests(folder: string): readonly Request[] {
  return mayHaveQuestions(folder) ? readRequests(folder).filter(isOpen) : []
}

export interface GivenAnswer {
  readonly answer: PersonAnswer
  readonly by: string
  readonly lasts: Lasts
  /** For every call of the rule, not only for the one that was asked about. */
  readonly ofRule: boolean
  /** Why, for the agent. */
  readonly message?: string | null
}

/**
 * Writes the answer to the record, where the shims of the run read it, and returns the answered question. A question that
 * was answered or withdrawn is refused: a second answer "once" would allow another call.
 */
export async function answerRequest({ folder, request }: AskedIn, given: GivenAnswer, clock: Clock): Promise<Request> {
  const { answer, by, lasts, ofRule, message = null } = given
  if (!ofRule && request.args_hash === '')
    throw new HeimdallError('USAGE', `the arguments of ${request.id} were too large to be read`, {
      hint: `inspect the call with heimdall approve --show ${request.id}; --rule answers for every call of the rule`,
    })
  const identity = identityIn(folder)
  if (identity === undefined) throw new HeimdallError('RUN_NOT_FOUND', `the run of ${request.id} is gone`)
  const redact = createRedact()
  const log = new RunLog(folder)
  try {
    const deadlineMs = clock.monoMs() + RUN_JOIN_MS
    for (;;) {
      const answered = log.locked((fold) => {
        const find = (): Request | undefined => fold.approvals.questions.find(({ id }) => id === request.id)
        refuseUnlessWaiting(request.id, find(), lasts)
        const text = new EventText(identity, () => clock.wallMs())
        text.approvalDecided({
          id: request.id,
          rule_id: request.rule_id,
          rule_hash: request.rule_hash,
          answer,
          decided_by: by,
          lasts: lastsText(lasts),
          scope: ofRule ? 'rule' : 'call',
          ...(message === null ? {} : { message: redact(message) }),
          ...(lasts.kind === 'for' ? { until: { bootId: bootId(), monoMs: clock.monoMs() + lasts.ms } } : {}),
        })
        log.append(text.lines)
        return find() ?? request
      })
      if (answered !== undefined) return answered
      if (clock.monoMs() >= deadlineMs)
        throw new HeimdallError('STORE_BUSY', `${log.path} is locked by another process`)
      await pause(clock, 1)
    }
  } finally {
    log.close()
  }
}

function refuseUnlessWaiting(id: string, current: Request | undefined, lasts: Lasts): void {
  let why: string | undefined
  if (current === undefined) why = 'was withdrawn'
  else if (current.answer !== null) why = `was already answered (${current.answer}) by ${current.answered_by}`
  // A lasting answer also holds for the next segment of the run.
  else if (!isOpen(current) && lasts.kind === 'once') why = 'was closed when its run ended'
  if (why !== undefined) throw new HeimdallError('APPROVAL_NOT_FOUND', `question ${id} ${why}`)
}

/** Removes what killed shims have left behind. A young folder may belong to one that is just beginning. */
export function sweepSoloFolders(runsDir: string, nowMs: number): void {
  for (const folder of soloFolders(runsDir)) {
    const madeMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? nowMs
    if (nowMs - madeMs > SOLO_KEPT_MS && !isInUse(folder)) rmSync(folder, { recursive: true, force: true })
  }
}

function soloFolders(runsDir: string): string[] {
  return namesIn(soloDir(runsDir)).map((name) => join(soloDir(runsDir), name))
}

function isInUse(folder: string): boolean {
  return lookAtMembers(folder).alive.length > 0
}
