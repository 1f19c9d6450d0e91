package io.holdfast.peer.transfer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;

/**
 * The threads that do all input and output, and the types of their sockets: epoll's where it is
 * available.
 */
record EventLoops(
    EventLoopGroup group,
    Class<? extends ServerChannel> serverChannel,
    Class<? extends Channel> clientChannel) {
  private static final int THREADS = 2;

  static EventLoops start() {
    ThreadFactory threads = new DefaultThreadFactory("holdfast-peer", true);
    return Epoll.isAvailable()
        ? new EventLoops(
            new MultiThreadIoEventLoopGroup(THREADS, threads, EpollIoHandler.newFactory()),
            EpollServerSocketChannel.class,
            EpollSocketChannel.class)
        : new EventLoops(
            new MultiThreadIoEventLoopGroup(THREADS, threads, NioIoHandler.newFactory()),
            NioServerSocketChannel.class,
            NioSocketChannel.class);
  }
}
