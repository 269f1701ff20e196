-- Gives the hubs' login its password, from the file that the container sees: it stands in no command line and no log.
\set password `cat /run/secrets/hub`
ALTER ROLE hub PASSWORD :'password';
