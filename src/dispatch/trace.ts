// What a task belongs to in the eyes of whoever watches programs from outside: a `traceparent` of W3C Trace Context.
import { hashText } from './short-hash.ts'

/** Of a task that was sent outside of any trace. By its names, so that the same task sent twice is the same. */
export const traceOf = (place: string, taskId: string): string =>
  `00-${hashText(`trace\0${place}\0${taskId}`).slice(0, 32)}-${hashText(`span\0${place}\0${taskId}`).slice(0, 16)}-01`
