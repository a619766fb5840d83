// The one cookie of the hub: its name, how it is set, and how it is found among others of the same host.

/** Cookies do not tell ports apart, so the name does: two hubs of one user do not throw each other's visitors out. */
const nameOf = (port: number): string => `heimdall_${port}`

export function cookieFor(port: number, token: string, maxAgeS: number, isTunnel: boolean): string {
  const secure = isTunnel ? '; Secure' : ''
  return `${nameOf(port)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`
}

/** Of a cookie that is there twice, nothing: somebody else has set one of them. */
export function tokenIn(header: string | undefined, port: number): string | undefined {
  const name = nameOf(port)
  const found = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return found.length === 1 ? found[0] : undefined
}
