// Loading, empty and broken parts: designed, and never larger than the part that has them.
import { type ReactNode, useEffect, useState } from 'react'
import type { HubError } from '../live/api.ts'
import { Copy } from './controls.tsx'
import { Icon, type IconName } from './icons.tsx'

/** The shape at once; a spinner only after a second. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  const [isLong, setIsLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), 1_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" role="status" aria-label={`Loading ${what}`}>
      <i />
      <i />
      <i />
      {isLong && (
        <span className="row quiet">
          <span className="spinner" />
          Loading {what}
        </span>
      )}
    </div>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <b>{title}</b>
      {children}
    </div>
  )
}

export function Banner({
  kind,
  icon,
  title,
  children,
  action,
}: {
  readonly kind?: 'harm' | 'lamp'
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}): ReactNode {
  return (
    <div className={`banner ${kind ?? ''}`} role={kind === 'harm' ? 'alert' : 'status'}>
      <span className={kind === 'harm' ? 'is-clash' : kind === 'lamp' ? 'is-lamp' : ''}>
        <Icon name={icon} size={14} />
      </span>
      <span className="grow">
        <b>{title}</b> {children}
      </span>
      {action}
    </div>
  )
}

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`

/** What broke in one part: code, what still works, the command that mends it. */
export function Broken({ what, error }: { readonly what: string; readonly error: HubError }): ReactNode {
  return (
    <Banner
      kind="harm"
      icon="cross"
      title={`${what}: ${error.code}.`}
      action={error.hint !== null && <Copy text={error.hint} className="button small" />}
    >
      {sentence(error.message)} {error.stillWorks}
    </Banner>
  )
}

/** One of the three, or what there is. */
export function Part<T>({
  what,
  loaded,
  children,
}: {
  readonly what: string
  readonly loaded: { readonly data: T | undefined; readonly error: HubError | undefined }
  readonly children: (data: T) => ReactNode
}): ReactNode {
  if (loaded.data !== undefined) return children(loaded.data)
  return loaded.error === undefined ? <Loading what={what} /> : <Broken what={`No ${what}`} error={loaded.error} />
}
