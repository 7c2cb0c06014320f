@rem "npm start" begins with "exec", a word of POSIX shells, so that signals reach the service. On Windows it runs what follows.
@%*
