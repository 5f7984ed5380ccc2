# The agent, static. Into an image of your own:
#
#   COPY --from=execagent /usr/local/bin/execagent /usr/local/bin/execagent
#
# By itself it is a sandbox with busybox's shell and tools.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath \
	-ldflags "-s -w -X github.com/execagent/execagent/internal/version.version=${VERSION}" \
	-o /out/ ./cmd/execagent

FROM busybox:stable
COPY --from=build /out/execagent /usr/local/bin/execagent
RUN adduser -D -u 10001 agent && mkdir -m 0700 /run/execagent && chown agent /run/execagent
USER agent
WORKDIR /home/agent
ENTRYPOINT ["/usr/local/bin/execagent"]
CMD ["serve", "--listen", "unix:/run/execagent/agent.sock"]
