@echo off
rem For Windows: does what the file without an ending beside this one does, and says why.
rem Nothing that lies in the folder at hand is started: it may be anybody's.
set NoDefaultCurrentDirectoryInExePath=1
if "%~1"=="hook" goto hook
where /q $PATH:hybrid-memory-mcp && goto installed
where /q $PATH:uvx && goto fetched
echo hybrid-memory-mcp is not installed, nor uv, which could fetch it: https://docs.astral.sh/uv 1>&2
exit /b 127
:installed
hybrid-memory-mcp %*
exit /b %errorlevel%
:fetched
uvx hybrid-memory-mcp==0.1.0 %*
exit /b %errorlevel%
:hook
where /q $PATH:hybrid-memory-mcp && goto installedhook
uvx --offline --quiet hybrid-memory-mcp==0.1.0 %* 2>nul
exit /b 0
:installedhook
hybrid-memory-mcp %* 2>nul
exit /b 0
