// The line that makes another machine a member: as it is typed there, with the password in it.
export const joinLine = (url: string, isPooled: boolean): string =>
  `  printf '%s' '${url}' | heimdall fleet join${isPooled ? ' --pooler' : ''}`
